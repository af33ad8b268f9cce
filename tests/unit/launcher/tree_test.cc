// No process of a run outlives it, whatever it did; and nobody else is hurt. Every test runs with
// the kernel as it is, as if it had no signal scope (GUARD_LANDLOCK_ABI_MAX), and as if it had no
// user notification either.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/clock.h"
#include "common/os/proc_stat.h"
#include "common/os/sys.h"
#include "common/sandbox/landlock/ruleset.h"
#include "tests/unit/launcher/driven_launcher.h"

namespace guard::launcher {
namespace {

using supervise::EndCause;
using supervise::KillLayer;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr auto kLong = 10s;  // no kill that works takes it, on a busy machine either

// A process of this user that has nothing to do with any run.
class Bystander {
 public:
  Bystander() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // should the test itself crash
    for (;;) ::pause();
  }
  ~Bystander() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  bool lives() const {
    const auto stat = os::proc_stat(pid_);
    return stat && stat->state != 'Z';
  }

 private:
  pid_t pid_;
};

std::vector<std::string> forker(const std::string& mode, int count, const std::string& marker) {
  return {probe("forker"), mode, std::to_string(count), "20", marker};
}

class Tree : public testing::TestWithParam<KillLayer> {
 protected:
  void SetUp() override {
    if (GetParam() == KillLayer::kScope && landlock::abi_version() < 6)
      GTEST_SKIP() << "kernel: needs Landlock ABI 6";
  }
  void TearDown() override {
    EXPECT_TRUE(bystander_.lives());
    EXPECT_THAT(survivors(marker_, 0ms), IsEmpty());
  }
  static std::vector<std::string> environment() {
    if (GetParam() == KillLayer::kScope) return {};
    return {"GUARD_LANDLOCK_ABI_MAX=2"};
  }
  DrivenRun start(const std::string& mode, int count, std::chrono::milliseconds wall = 0ms) {
    auto launch = launch_of(forker(mode, count, marker_));
    launch.wall = wall;
    launch.grace = 20ms;
    return launcher_.start(launch);
  }
  DrivenRun start_script(const std::string& script) {
    auto launch = shell(script);
    launch.argv.insert(launch.argv.end(), {"sh", marker_});
    return launcher_.start(launch);
  }

  const std::string marker_ = unique_marker();
  Bystander bystander_;
  DrivenLauncher launcher_{environment(),
                           {.no_user_notification = GetParam() == KillLayer::kSweep}};
};

std::string name_of(const testing::TestParamInfo<KillLayer>& info) {
  if (info.param == KillLayer::kScope) return "Scope";
  return info.param == KillLayer::kGate ? "Gate" : "Sweep";
}

INSTANTIATE_TEST_SUITE_P(Layers, Tree,
                         testing::Values(KillLayer::kScope, KillLayer::kGate, KillLayer::kSweep),
                         name_of);

// What a walk of /proc cannot promise: it may lose the race against a chain of forks.
class CutOffTree : public Tree {};
INSTANTIATE_TEST_SUITE_P(Layers, CutOffTree, testing::Values(KillLayer::kScope, KillLayer::kGate),
                         name_of);

// What only the scope can promise: a second process knows the tree, and an unconfined program
// cannot signal its monitor.
class ScopedTree : public Tree {};
INSTANTIATE_TEST_SUITE_P(Layers, ScopedTree, testing::Values(KillLayer::kScope), name_of);

TEST_P(Tree, IsKilledByTheLayerThatTheKernelHas) {
  EXPECT_EQ(start_script("true").finish().back().kill_layer,
            static_cast<std::uint32_t>(GetParam()));
}

// D3, D4, S60
TEST_P(Tree, LeftByItsProgramIsKilledAtOnceAndCounted) {
  auto run = start("leave", 1);
  EXPECT_EQ(run.output(), "ready\n");
  const auto finished = run.finish().back();
  EXPECT_THAT(survivors(marker_, 0ms), IsEmpty());
  EXPECT_EQ(WEXITSTATUS(finished.wait_status), 3);
  EXPECT_EQ(finished.cause, EndCause::kOwn);
  EXPECT_EQ(finished.killed, 1u);
  EXPECT_EQ(finished.stragglers, 0u);
}

// D2
TEST_P(Tree, OfAReplacedOutputEndsWithIt) {
  auto launch = launch_of({"/bin/bash", "-c", "exec > >(cat); echo hi"});
  const auto begin = os::now();
  auto run = launcher_.start(launch);
  EXPECT_EQ(run.output(), "hi\n");
  EXPECT_EQ(run.finish().back().wait_status, 0);
  EXPECT_LT(os::now() - begin, kLong);
}

// D1
TEST_P(Tree, ThatFeedsItselfThroughAFifoIsEndedByTheWallLimit) {
  char folder[] = "/var/tmp/guard-tree-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  supervise::LaunchFds fds;
  fds[static_cast<std::size_t>(supervise::LaunchFd::kCwd)] =
      *os::open(folder, O_PATH | O_DIRECTORY);
  auto launch = shell("mkfifo p; (while :; do echo x; sleep .2; done)>p & cat p");
  launch.wall = 300ms;
  const auto begin = os::now();
  auto run = launcher_.start(launch, std::move(fds));
  run.output();
  EXPECT_EQ(run.finish().back().cause, EndCause::kWall);
  EXPECT_LT(os::now() - begin, kLong);
  ::unlink((std::string(folder) + "/p").c_str());
  ::rmdir(folder);
}

TEST_P(Tree, OfThreeHundredSessionsDiesEveryTime) {
  for (int round = 0; round < 4; ++round) {
    const std::string mode = round % 2 == 0 ? "setsid" : "daemon";
    auto run = start(mode, 300);
    ASSERT_EQ(run.line(), "ready");
    const auto begin = os::now();
    run.order(supervise::OrderKind::kKill);
    const auto finished = run.finish().back();
    ASSERT_LT(os::now() - begin, kLong) << mode << " " << round;
    ASSERT_EQ(finished.stragglers, 0u);
    ASSERT_EQ(finished.killed, 300u);
    ASSERT_THAT(survivors(marker_, 0ms), IsEmpty());
    ASSERT_TRUE(bystander_.lives());
  }
}

// What ignores SIGTERM, in sessions of its own, under a limit of 1 s.
TEST_P(Tree, OfThreeHundredSessionsEndsWithItsWallLimit) {
  for (const char* mode : {"setsid", "daemon"}) {
    const auto begin = os::now();
    auto run = start(mode, 300, 1s);
    run.output();
    const auto finished = run.finish().back();
    EXPECT_LT(os::now() - begin, kLong) << mode;
    EXPECT_EQ(finished.cause, EndCause::kWall);
    EXPECT_THAT(survivors(marker_, 0ms), IsEmpty());
  }
}

TEST_P(Tree, OfStoppedProcessesDies) {
  auto run = start("stopped", 20);
  EXPECT_EQ(run.line(), "ready");
  run.order(supervise::OrderKind::kKill);
  EXPECT_EQ(run.finish().back().killed, 20u);
}

TEST_P(Tree, OfSiblingsMadeWithCloneParentDies) {
  auto run = start("parent", 20);
  EXPECT_EQ(run.line(), "ready");
  run.order(supervise::OrderKind::kKill);
  EXPECT_EQ(run.finish().back().killed, 20u);
}

TEST_P(CutOffTree, OfChainsThatForkWithoutEndDies) {
  for (int round = 0; round < 5; ++round) {
    auto run = start("chain", 6);
    ASSERT_EQ(run.line(), "ready");
    const auto begin = os::now();
    run.order(supervise::OrderKind::kKill);
    ASSERT_EQ(run.finish().back().stragglers, 0u);
    ASSERT_LT(os::now() - begin, kLong);
    ASSERT_THAT(survivors(marker_, 0ms), IsEmpty());
  }
}

// D16
TEST_P(Tree, LeavesNoZombiesWhileItLives) {
  auto run = start_script("for i in $(seq 200); do (true &); done; echo ready; sleep 60");
  const pid_t monitor = run.monitor();
  EXPECT_EQ(run.line(), "ready");
  const auto zombies = [monitor] {
    const auto all = os::all_processes();
    return std::count_if(all->begin(), all->end(), [monitor](const auto& process) {
      return process.parent == monitor && process.state == 'Z';
    });
  };
  const auto deadline = os::now() + 2s;
  while (zombies() > 0 && os::now() < deadline) ::usleep(2000);
  EXPECT_EQ(zombies(), 0);
  run.order(supervise::OrderKind::kKill);
  run.finish();
}

// D19, D13, D15: guardd, monitor, launcher and warden are lost in turn.
TEST_P(Tree, DiesWithGuardd) {
  auto run = start("setsid", 30);
  EXPECT_EQ(run.line(), "ready");
  run.hang_up();
  launcher_.hang_up();
  EXPECT_THAT(survivors(marker_, 1s), IsEmpty());
}

TEST_P(Tree, DiesWithItsMonitor) {
  for (int round = 0; round < 5; ++round) {
    auto run = start("daemon", 30);
    EXPECT_EQ(run.line(), "ready");
    ::kill(run.monitor(), SIGKILL);
    EXPECT_TRUE(run.ended(1s));
    EXPECT_THAT(survivors(marker_, 1s), IsEmpty());
  }
  EXPECT_EQ(start_script("true").finish().size(), 2u) << "the launcher works on";
}

TEST_P(CutOffTree, OfChainsDiesWithItsMonitor) {
  auto run = start("chain", 6);
  EXPECT_EQ(run.line(), "ready");
  ::kill(run.monitor(), SIGKILL);
  EXPECT_THAT(survivors(marker_, 1s), IsEmpty());
}

TEST_P(Tree, OutlivesItsLauncherAndEndsWithItsOneResult) {
  auto run = start("leave", 10);
  auto held = start("setsid", 10);
  EXPECT_EQ(held.line(), "ready");
  const pid_t monitor = held.monitor();
  ::kill(launcher_.pid(), SIGKILL);
  launcher_.wait_for_exit();
  const auto stat = os::proc_stat(monitor);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, ::getpid()) << "the launcher's parent is a subreaper, as guardd is";
  held.order(supervise::OrderKind::kKill);
  EXPECT_EQ(held.finish().back().killed, 10u);
  EXPECT_EQ(WEXITSTATUS(run.finish().back().wait_status), 3);
}

TEST_P(ScopedTree, DiesWithItsMonitorWhenTheLauncherIsGoneToo) {
  auto run = start("daemon", 30);
  EXPECT_EQ(run.line(), "ready");
  const pid_t monitor = run.monitor();
  ::kill(launcher_.pid(), SIGKILL);
  launcher_.wait_for_exit();
  ::kill(monitor, SIGKILL);
  EXPECT_THAT(survivors(marker_, 1s), IsEmpty());
}

TEST_P(ScopedTree, EndsAsEverWhenItsWardenWasKilled) {
  auto run = start("setsid", 10);
  EXPECT_EQ(run.line(), "ready");
  const pid_t monitor = run.monitor();
  const auto all = os::all_processes();
  for (const auto& process : *all) {
    const auto name = os::read_file("/proc/" + std::to_string(process.pid) + "/comm", 100);
    if (process.parent == monitor && name && *name == "guard-warden\n")
      ::kill(process.pid, SIGKILL);
  }
  run.order(supervise::OrderKind::kKill);
  const auto finished = run.finish().back();
  EXPECT_EQ(finished.killed, 10u);
  EXPECT_EQ(finished.stragglers, 0u);
}

// And even with both killed, the launcher's sweep is left.
TEST_P(Tree, DiesWithMonitorAndWarden) {
  auto run = start("daemon", 30);
  EXPECT_EQ(run.line(), "ready");
  const pid_t monitor = run.monitor();
  const auto all = os::all_processes();
  for (const auto& process : *all) {
    const auto name = os::read_file("/proc/" + std::to_string(process.pid) + "/comm", 100);
    if (process.parent == monitor && name && *name == "guard-warden\n")
      ::kill(process.pid, SIGKILL);
  }
  ::kill(monitor, SIGKILL);
  EXPECT_THAT(survivors(marker_, 1s), IsEmpty());
}

TEST_P(ScopedTree, CannotKillStopOrTraceItsMonitor) {
  // Root reads memory past Landlock, by CAP_PERFMON (mm_access in the kernel); a confined run has
  // no capability.
  const std::string read_memory =
      ::geteuid() == 0 ? "" : "cat /proc/$PPID/environ 2>/dev/null && echo read;";
  auto run = start_script(
      "for s in KILL STOP TERM CONT 0; do kill -$s $PPID 2>/dev/null && echo signalled; done;"
      "kill -KILL -1 2>/dev/null;" +
      read_memory + "readlink /proc/$PPID/fd/0 /proc/$PPID/exe 2>/dev/null; exit 8");
  EXPECT_EQ(run.output(), "");
  EXPECT_EQ(WEXITSTATUS(run.finish().back().wait_status), 8);
}

// The same attacks with nobody to stop them: they do survive what most supervisors do.
TEST(Unsupervised, SessionsOutliveTheKillOfTheirGroup) {
  for (const char* mode : {"setsid", "daemon", "stopped"}) {
    const std::string marker = unique_marker();
    const auto argv = forker(mode, 5, marker);
    auto pipe_ends = std::array<int, 2>{};
    ASSERT_EQ(::pipe2(pipe_ends.data(), O_CLOEXEC), 0);
    const pid_t leader = ::fork();
    if (leader == 0) {
      ::setpgid(0, 0);
      ::dup2(pipe_ends[1], 1);
      std::vector<char*> words;
      for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
    ::close(pipe_ends[1]);
    char ready[6] = {};
    EXPECT_EQ(::read(pipe_ends[0], ready, sizeof ready), 6);
    ::close(pipe_ends[0]);
    ::kill(-leader, SIGKILL);
    ::waitpid(leader, nullptr, 0);
    EXPECT_EQ(survivors(marker, 0ms).size(), 5u) << mode;
    for (const pid_t pid : living_with(marker)) ::kill(pid, SIGKILL);
    EXPECT_THAT(survivors(marker, 2s), IsEmpty());
  }
}

}  // namespace
}  // namespace guard::launcher
