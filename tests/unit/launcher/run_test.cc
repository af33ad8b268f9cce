// What a program is given and what guardd hears of it, seen through the real launcher.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/clock.h"
#include "common/os/pipe.h"
#include "common/os/seqpacket.h"
#include "common/os/sys.h"
#include "tests/unit/launcher/driven_launcher.h"

namespace guard::launcher {
namespace {

using supervise::EndCause;
using supervise::LaunchFd;
using supervise::LaunchFds;
using namespace std::chrono_literals;

TEST(Run, ReportsItsStartThenItsEndWithOutputBetween) {
  DrivenLauncher launcher;
  auto run = launcher.start(shell("echo hello; exit 7"));
  EXPECT_EQ(run.output(), "hello\n");
  const auto events = run.finish();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::kStarted);
  EXPECT_GT(events[0].pid, 0);
  EXPECT_EQ(events[1].kind, EventKind::kFinished);
  EXPECT_EQ(events[1].cause, EndCause::kOwn);
  ASSERT_TRUE(WIFEXITED(events[1].wait_status));
  EXPECT_EQ(WEXITSTATUS(events[1].wait_status), 7);
  EXPECT_EQ(events[1].killed, 0u);
  EXPECT_EQ(events[1].stragglers, 0u);
  EXPECT_GT(events[1].max_rss_bytes, 0u);
}

std::string said_by(const supervise::Launch& launch, LaunchFds fds = {}) {
  DrivenLauncher launcher;
  auto run = launcher.start(launch, std::move(fds));
  std::string text = run.output();
  EXPECT_EQ(run.finish().back().cause, EndCause::kOwn);
  return text;
}

// D45
TEST(Run, InheritsNoBlockedIgnoredOrCaughtSignal) {
  const std::string status = said_by(launch_of({"/bin/cat", "/proc/self/status"}));
  for (const char* field : {"SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt"})
    EXPECT_THAT(status, testing::HasSubstr(std::string(field) + ":\t0000000000000000\n"));
}

// D47; 3 is the directory that ls itself reads.
TEST(Run, HasStandardStreamsOpenAndNothingElse) {
  EXPECT_EQ(said_by(launch_of({"/bin/ls", "/proc/self/fd"})), "0\n1\n2\n3\n");
}

TEST(Run, GetsTheResultPipeAsThree) {
  auto pipe = *os::make_pipe();
  LaunchFds fds;
  fds[static_cast<std::size_t>(LaunchFd::kResult)] = std::move(pipe.write);
  EXPECT_EQ(said_by(shell("/bin/ls /proc/self/fd; echo result >&3"), std::move(fds)),
            "0\n1\n2\n3\n4\n");
  EXPECT_EQ(*os::read_all(pipe.read.get(), 100), "result\n");
}

// D48
TEST(Run, GetsTheUmaskAsked) {
  auto launch = shell("umask");
  EXPECT_EQ(said_by(launch), "0022\n");
  launch.umask = 0137;
  EXPECT_EQ(said_by(launch), "0137\n");
}

TEST(Run, LeadsASessionOfItsOwnWithoutATerminal) {
  const std::string text =
      said_by(shell("cut -d' ' -f1 </proc/$$/stat; cut -d' ' -f5-7 </proc/$$/stat"));
  const std::string pid = text.substr(0, text.find('\n'));
  EXPECT_EQ(text, pid + "\n" + pid + " " + pid + " 0\n");
}

TEST(Run, HasTheEnvironmentOfItsLaunchOnly) {
  auto launch = launch_of({"/usr/bin/env"});
  launch.env = {"A=1", "B="};
  EXPECT_EQ(said_by(launch), "A=1\nB=\n");
}

TEST(Run, StartsInTheFolderGiven) {
  LaunchFds fds;
  fds[static_cast<std::size_t>(LaunchFd::kCwd)] = *os::open("/usr/bin", O_PATH | O_DIRECTORY);
  EXPECT_EQ(said_by(launch_of({"/bin/pwd"}), std::move(fds)), "/usr/bin\n");
}

TEST(Run, IsFirstToGoWhenMemoryRunsOut) {
  EXPECT_EQ(said_by(shell("cat /proc/self/oom_score_adj")), "500\n");
}

TEST(Run, TakesArgumentsOfAnyBytes) {
  EXPECT_EQ(said_by(launch_of({"/usr/bin/printf", "%s|", "a b", "", "\xff\n"})), "a b||\xff\n|");
}

class Spawn : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/var/tmp/guard-spawn-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    for (const auto& file : files_) ::unlink(file.c_str());
    ::rmdir(folder_.c_str());
  }
  std::string file(const std::string& name, mode_t mode, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    const auto fd = *os::open(path, O_WRONLY | O_CREAT, mode);
    EXPECT_TRUE(os::write_all(fd.get(), text));
    files_.push_back(path);
    return path;
  }
  std::vector<MonitorEvent> events_of(std::vector<std::string> candidates) {
    auto launch = launch_of({"program"});
    launch.candidates = std::move(candidates);
    return launcher_.start(launch).finish();
  }
  // The failure of a run whose candidates are these.
  MonitorEvent failure_of(std::vector<std::string> candidates) {
    const auto events = events_of(std::move(candidates));
    EXPECT_GE(events.size(), 2u);
    if (events.size() < 2) return {};
    const auto& failed = events[events.size() - 2];
    EXPECT_EQ(failed.kind, EventKind::kSpawnFailed);
    EXPECT_EQ(failed.stage, static_cast<std::uint32_t>(sandbox::Stage::kExec));
    EXPECT_EQ(events.back().cause, EndCause::kNotStarted);
    return failed;
  }
  DrivenLauncher launcher_;
  std::string folder_;
  std::vector<std::string> files_;
};

TEST_F(Spawn, OfWhatIsNotThereFails) {
  EXPECT_EQ(failure_of({"/nowhere/program"}).error, ENOENT);
  EXPECT_EQ(failure_of({"/dev/null/program", "/nowhere/program"}).error, ENOENT);
}

TEST_F(Spawn, OfWhatIsNotExecutableFailsWithItsIndex) {
  const auto plain = file("plain", 0644, "x");
  const auto failed = failure_of({"/nowhere/program", plain, "/nowhere/else"});
  EXPECT_EQ(failed.error, EACCES);
  EXPECT_EQ(failed.index, 1u);
  EXPECT_EQ(failure_of({folder_}).error, EACCES);
}

TEST_F(Spawn, OfAFileWithoutAFormatIsFinal) {
  const auto text = file("text", 0755, "echo no interpreter line\n");
  const auto failed = failure_of({text, "/bin/true"});
  EXPECT_EQ(failed.error, ENOEXEC);
  EXPECT_EQ(failed.index, 0u);
}

TEST_F(Spawn, OfAScriptWithoutItsInterpreterFails) {
  EXPECT_EQ(failure_of({file("script", 0755, "#!/nowhere/sh\n")}).error, ENOENT);
}

TEST_F(Spawn, PassesOverWhatIsRefusedAndSaysSo) {
  const auto plain = file("plain", 0644, "x");
  const auto events = events_of({"/nowhere/program", plain, "/bin/true"});
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, EventKind::kPassedOver);
  EXPECT_EQ(events[0].index, 1u);
  EXPECT_EQ(events[0].error, EACCES);
  EXPECT_EQ(events[1].kind, EventKind::kStarted);
  EXPECT_EQ(events[2].wait_status, 0);
}

TEST_F(Spawn, OfAFileHeldOpenForWritingGivesUpInTime) {
  const auto script = file("busy", 0755, "#!/bin/true\n");
  const auto writer = *os::open(script, O_WRONLY);
  const auto begin = os::now();
  EXPECT_EQ(failure_of({script}).error, ETXTBSY);
  EXPECT_LT(os::now() - begin, 10s);
}

TEST_F(Spawn, OfAnArgumentTooLongFails) {
  auto launch = launch_of({"/bin/true", std::string(131072, 'x')});
  const auto events = launcher_.start(launch).finish();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].error, E2BIG);
  launch.argv[1].pop_back();
  EXPECT_EQ(launcher_.start(launch).finish().back().cause, EndCause::kOwn);
}

// D33
TEST(Run, OfNoDurationStillReportsStartAndEndOnce) {
  DrivenLauncher launcher;
  for (int i = 0; i < 200; ++i) {
    const auto events = launcher.start(launch_of({"/bin/true"})).finish();
    ASSERT_EQ(events.size(), 2u) << i;
    ASSERT_EQ(events[0].kind, EventKind::kStarted) << i;
    ASSERT_EQ(events[1].kind, EventKind::kFinished) << i;
    ASSERT_EQ(events[1].wait_status, 0) << i;
  }
}

TEST(Run, ManyAtOnceAreEachAnswered) {
  DrivenLauncher launcher;
  std::vector<DrivenRun> runs;
  for (int i = 0; i < 40; ++i) runs.push_back(launcher.start(shell("exit " + std::to_string(i))));
  int expected = 0;
  for (auto& run : runs) EXPECT_EQ(WEXITSTATUS(run.finish().back().wait_status), expected++);
}

TEST(Run, ThatDiesByASignalSaysWhich) {
  DrivenLauncher launcher;
  const auto events = launcher.start(shell("kill -9 $$")).finish();
  ASSERT_TRUE(WIFSIGNALED(events.back().wait_status));
  EXPECT_EQ(WTERMSIG(events.back().wait_status), SIGKILL);
  EXPECT_EQ(events.back().cause, EndCause::kOwn);
}

TEST(WallLimit, AsksThenKills) {
  DrivenLauncher launcher;
  auto launch = shell("trap 'echo asked' TERM; echo ready; while :; do sleep 0.02; done");
  launch.wall = 500ms;
  launch.grace = 500ms;
  const auto begin = os::now();
  auto run = launcher.start(launch);
  const std::string text = run.output();
  EXPECT_THAT(text, testing::StartsWith("ready\nasked\n"));
  const auto finished = run.finish().back();
  EXPECT_EQ(finished.cause, EndCause::kWall);
  EXPECT_EQ(WTERMSIG(finished.wait_status), SIGKILL);
  EXPECT_GE(os::now() - begin, 1s);
  EXPECT_LT(os::now() - begin, 10s);
  EXPECT_GE(finished.wall_us, 1'000'000u);
}

TEST(WallLimit, LeavesAProgramThatTidiesUpItsOwnStatus) {
  DrivenLauncher launcher;
  auto launch = shell("trap 'exit 9' TERM; while :; do sleep 0.02; done");
  launch.wall = 200ms;
  launch.grace = 30s;
  const auto begin = os::now();
  const auto finished = launcher.start(launch).finish().back();
  EXPECT_EQ(finished.cause, EndCause::kWall);
  EXPECT_EQ(WEXITSTATUS(finished.wait_status), 9);
  EXPECT_LT(os::now() - begin, 10s);
}

TEST(Order, ToKillGivesNoGrace) {
  DrivenLauncher launcher;
  auto run = launcher.start(shell("trap '' TERM; echo ready; while :; do sleep 0.02; done"));
  EXPECT_EQ(run.line(), "ready");
  run.order(supervise::OrderKind::kKill);
  const auto finished = run.finish().back();
  EXPECT_EQ(finished.cause, EndCause::kOrder);
  EXPECT_EQ(WTERMSIG(finished.wait_status), SIGKILL);
}

TEST(Order, ToKillAtOnceIsObeyedWhateverHasStarted) {
  DrivenLauncher launcher;
  for (int i = 0; i < 50; ++i) {
    auto run = launcher.start(launch_of({"/bin/sleep", "60"}));
    run.order(supervise::OrderKind::kKill);
    const auto events = run.finish();
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.back().kind, EventKind::kFinished);
    EXPECT_EQ(events.back().cause, EndCause::kOrder);
  }
}

TEST(Order, ToTerminateAsksEvenTheStopped) {
  DrivenLauncher launcher;
  auto run = launcher.start(shell("trap 'exit 4' TERM; echo ready; kill -STOP $$; sleep 60"));
  EXPECT_EQ(run.line(), "ready");
  run.order(supervise::OrderKind::kTerminate);
  EXPECT_EQ(WEXITSTATUS(run.finish().back().wait_status), 4);
}

TEST(Order, ToSignalReachesTheProgramsGroup) {
  DrivenLauncher launcher;
  auto run =
      launcher.start(shell("trap 'echo got; exit 5' USR1; (trap 'echo got; exit' USR1; echo ready; "
                           "while :; do sleep 0.02; done) & while :; do sleep 0.02; done"));
  EXPECT_EQ(run.line(), "ready");
  run.order(supervise::OrderKind::kSignal, SIGUSR1);
  EXPECT_EQ(run.line(), "got");
  EXPECT_EQ(WEXITSTATUS(run.finish().back().wait_status), 5);
}

TEST(Launcher, WithoutRoomForAProcessAnswersEveryLaunch) {
  if (::geteuid() == 0) GTEST_SKIP() << "RLIMIT_NPROC does not hold root";
  DrivenLauncher launcher({}, {.processes = 1});
  for (int i = 0; i < 3; ++i) {
    const auto events = launcher.start(launch_of({"/bin/true"})).finish();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].kind, EventKind::kSpawnFailed);
    EXPECT_EQ(events[0].stage, static_cast<std::uint32_t>(sandbox::Stage::kSetup));
    EXPECT_EQ(events[0].error, EAGAIN);
    EXPECT_EQ(events[1].cause, EndCause::kNotStarted);
  }
}

TEST(Launcher, GoesOnAfterADatagramThatIsNoLaunch) {
  DrivenLauncher launcher;
  ASSERT_TRUE(os::send_packet(launcher.control(), "nonsense"));
  EXPECT_EQ(launcher.start(launch_of({"/bin/true"})).finish().size(), 2u);
}

TEST(Launcher, EndsWithGuarddAndLeavesNobody) {
  DrivenLauncher launcher;
  EXPECT_EQ(launcher.start(launch_of({"/bin/true"})).finish().size(), 2u);
  launcher.hang_up();
  EXPECT_EQ(launcher.wait_for_exit(), 0);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "an orphan was left to us";
}

}  // namespace
}  // namespace guard::launcher
