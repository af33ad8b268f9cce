// A program that is confined as guardd would have it: the whole way from policy to program.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/clock.h"
#include "common/os/scratch_dir.h"
#include "common/os/sys.h"
#include "common/sandbox/compile.h"
#include "common/sandbox/enforce.h"
#include "common/sandbox/landlock/ruleset.h"
#include "common/sandbox/witness.h"
#include "tests/unit/launcher/driven_launcher.h"

namespace guard::launcher {
namespace {

using supervise::EndCause;
using supervise::LaunchFd;
using supervise::LaunchFds;
using testing::IsEmpty;
using namespace std::chrono_literals;

class Confined : public testing::Test {
 protected:
  void SetUp() override {
    if (landlock::abi_version() < 1) GTEST_SKIP() << "kernel: no Landlock";
    char folder[] = "/var/tmp/guard-confined-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    std::filesystem::create_directories(folder_ + "/work");
    std::filesystem::create_directories(folder_ + "/root");
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // Starts `argv` with the system base, the probes, and `paths`.
  DrivenRun start(std::vector<std::string> argv, std::vector<sandbox::PathGrant> paths = {},
                  sandbox::Limits limits = {}) {
    auto launch = launch_of(std::move(argv));
    LaunchFds fds;
    confine(launch, fds, std::move(paths), limits);
    // What these programs do has to be done confined or not at all: some signal this process.
    if (HasFatalFailure()) launch = launch_of({"/bin/false"});
    return launcher_.start(launch, std::move(fds));
  }

  void confine(supervise::Launch& launch, LaunchFds& fds, std::vector<sandbox::PathGrant> paths,
               const sandbox::Limits& limits) {
    sandbox::Policy policy;
    policy.paths = std::move(paths);
    policy.paths.push_back({.path = std::filesystem::canonical(probe("")).string()});
    policy.limits = limits;
    const auto root = os::ScratchRoot::open(folder_ + "/root");
    ASSERT_TRUE(root) << root.error().message();
    ASSERT_TRUE(root->ensure_canary());
    const auto resolved = sandbox::resolve(policy, {});
    ASSERT_TRUE(resolved) << resolved.error().message();
    const auto compiled =
        sandbox::compile(*resolved, *sandbox::probe(), sandbox::Supervision::kTreeKill);
    ASSERT_TRUE(compiled) << compiled.error().message();
    const auto staged = sandbox::stage(compiled->plan, *resolved);
    ASSERT_TRUE(staged) << staged.error().message();
    launch.confine = true;
    launch.drop_capabilities = true;
    launch.filter = staged->filter();
    launch.limits = staged->limits();
    launch.canary_name = os::ScratchRoot::kCanaryName;
    fds[static_cast<std::size_t>(LaunchFd::kRuleset)] = *os::duplicate(staged->ruleset_fd());
    fds[static_cast<std::size_t>(LaunchFd::kCanaryDir)] = *os::duplicate(root->fd());
  }

  std::string folder_;
  DrivenLauncher launcher_;
};

std::vector<std::string> script(const std::string& text) { return {"/bin/sh", "-c", text}; }

TEST_F(Confined, RunsAndWritesWhereItMayAndNowhereElse) {
  auto run = start(script("echo in > " + folder_ + "/work/in && echo wrote; echo out > " + folder_ +
                          "/out && echo escaped; exit 0"),
                   {{.path = folder_ + "/work", .access = sandbox::Access::kWrite}});
  EXPECT_EQ(run.output(), "wrote\n");
  EXPECT_EQ(run.finish().back().cause, EndCause::kOwn);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out"));
  // The same line without a sandbox does both.
  EXPECT_EQ(launcher_.start(shell("echo out > " + folder_ + "/out && echo escaped")).output(),
            "escaped\n");
}

TEST_F(Confined, HasNoDescriptorOfItsSandboxLeft) {
  auto run =
      start(script("cd /; for n in 3 4 5 6 7 8 9 10 16 17; do "
                   "(: <&$n) 2>/dev/null && echo $n; done; exit 0"));
  EXPECT_EQ(run.output(), "");
  run.finish();
}

TEST_F(Confined, CannotSignalItsMonitorNorAnyoneElse) {
  if (landlock::abi_version() < 6) GTEST_SKIP() << "kernel: the signal scope needs Landlock ABI 6";
  const std::string self = std::to_string(::getpid());
  auto run =
      start(script("for s in KILL STOP 0; do kill -$s $PPID 2>/dev/null && echo monitor;"
                   "kill -$s " +
                   self + " 2>/dev/null && echo outsider; done; exit 8"));
  EXPECT_EQ(run.output(), "");
  EXPECT_EQ(WEXITSTATUS(run.finish().back().wait_status), 8);
  EXPECT_EQ(::kill(::getpid(), 0), 0) << "who is not confined may";
}

TEST_F(Confined, HoldsItsLimits) {
  sandbox::Limits limits;
  limits.open_files = 33;
  auto run = start(script("ulimit -n; ulimit -c"), {}, limits);
  EXPECT_THAT(run.output(), testing::StartsWith("33\n"));
  run.finish();
}

TEST_F(Confined, HundredsOfSessionsDieWithTheirProgram) {
  for (const char* mode : {"setsid", "daemon"}) {
    const std::string marker = unique_marker();
    auto run = start({probe("forker"), mode, "300", "20", marker});
    EXPECT_EQ(run.line(), "ready");
    run.order(supervise::OrderKind::kKill);
    EXPECT_EQ(run.finish().back().killed, 300u);
    EXPECT_THAT(survivors(marker, 0ms), IsEmpty());
  }
}

TEST_F(Confined, DiesWithItsMonitor) {
  const std::string marker = unique_marker();
  auto run = start({probe("forker"), "chain", "6", "20", marker});
  EXPECT_EQ(run.line(), "ready");
  ::kill(run.monitor(), SIGKILL);
  EXPECT_TRUE(run.ended(1s));
  EXPECT_THAT(survivors(marker, 1s), IsEmpty());
}

// The canary made readable: the program must not start.
TEST_F(Confined, IsNotStartedWhenTheSandboxDoesNotHold) {
  auto run = start(script("echo ran"), {{.path = folder_ + "/root"}});
  EXPECT_EQ(run.output(), "");
  const auto events = run.finish();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::kSpawnFailed);
  EXPECT_EQ(events[0].stage, static_cast<std::uint32_t>(sandbox::Stage::kWitness));
  EXPECT_EQ(events[0].axis, static_cast<std::uint32_t>(sandbox::WitnessAxis::kFileAccess));
  EXPECT_EQ(events[1].cause, EndCause::kNotStarted);
}

TEST_F(Confined, IsNotStartedWithoutARuleset) {
  auto launch = shell("echo ran");
  LaunchFds fds;
  confine(launch, fds, {}, {});
  fds[static_cast<std::size_t>(LaunchFd::kRuleset)].reset();
  auto run = launcher_.start(launch, std::move(fds));
  EXPECT_EQ(run.output(), "");
  const auto events = run.finish();
  EXPECT_EQ(events.front().kind, EventKind::kSpawnFailed);
  EXPECT_EQ(events.front().stage, static_cast<std::uint32_t>(sandbox::Stage::kLandlock));
}

TEST_F(Confined, IsNotStartedWithoutAFilter) {
  auto launch = shell("echo ran");
  LaunchFds fds;
  confine(launch, fds, {}, {});
  launch.filter.clear();
  auto run = launcher_.start(launch, std::move(fds));
  EXPECT_EQ(run.output(), "");
  EXPECT_EQ(run.finish().front().stage, static_cast<std::uint32_t>(sandbox::Stage::kSeccomp));
}

TEST_F(Confined, ProgramThatIsNotGrantedIsPassedOverWithANote) {
  const std::string shim = folder_ + "/root/true";
  std::filesystem::copy_file("/bin/true", shim);
  std::filesystem::create_directories(folder_ + "/scratch");
  auto launch = launch_of({"true"});
  LaunchFds fds;
  confine(launch, fds, {}, {});
  launch.candidates = {shim, "/bin/true"};
  const auto events = launcher_.start(launch, std::move(fds)).finish();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, EventKind::kPassedOver);
  EXPECT_EQ(events[0].error, EACCES);
  EXPECT_EQ(events[2].wait_status, 0);
}

}  // namespace
}  // namespace guard::launcher
