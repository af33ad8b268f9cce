#include "common/supervise/tree_kill.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sandbox/kernel_support.h"
#include "common/sandbox/landlock/ruleset.h"

namespace guard::supervise {
namespace {

using os::ProcStat;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<pid_t> pids(const std::vector<ProcStat>& processes) {
  std::vector<pid_t> all;
  for (const auto& process : processes) all.push_back(process.pid);
  return all;
}

const std::vector<ProcStat> kFamily = {{.pid = 1, .parent = 0},   {.pid = 10, .parent = 1},
                                       {.pid = 11, .parent = 10}, {.pid = 12, .parent = 10},
                                       {.pid = 13, .parent = 11}, {.pid = 20, .parent = 1},
                                       {.pid = 21, .parent = 20}};

TEST(Descendants, AreThoseBelowAndNobodyElse) {
  EXPECT_THAT(pids(descendants(10, kFamily, {})), UnorderedElementsAre(11, 12, 13));
  EXPECT_THAT(descendants(21, kFamily, {}), IsEmpty());
}

TEST(Descendants, LeaveOutTheSparedAndTheirChildren) {
  const pid_t spared[] = {11};
  EXPECT_THAT(pids(descendants(10, kFamily, spared)), ElementsAre(12));
}

TEST(Descendants, OfAListWithARingEndAllTheSame) {
  const std::vector<ProcStat> ring = {{.pid = 2, .parent = 3}, {.pid = 3, .parent = 2}};
  EXPECT_THAT(pids(descendants(2, ring, {})), ElementsAre(3));
}

// Runs `body` in a child: what it restricts stays there. True when it returned true.
bool in_child(const std::function<bool()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0;
}

class KillScopeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (landlock::abi_version() < 6) GTEST_SKIP() << "kernel: needs Landlock ABI 6";
    ruleset_ = *landlock::signal_scope_ruleset();
  }
  os::UniqueFd ruleset_;
};

TEST_F(KillScopeTest, IsProvenByAnOutsiderThatCouldBeSignalledAndCannotBe) {
  const pid_t outsider = ::getpid();
  EXPECT_TRUE(in_child([&] {
    const auto scope = KillScope::enter(ruleset_.get(), {{outsider}});
    return scope.proven() && ::kill(outsider, 0) != 0;
  }));
}

TEST_F(KillScopeTest, IsNotProvenByOneWhoIsGone) {
  const pid_t outsider = ::getpid();
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  EXPECT_TRUE(
      in_child([&] { return !KillScope::enter(ruleset_.get(), {{outsider, gone}}).proven(); }));
}

TEST_F(KillScopeTest, IsNotProvenByNobodyOrByAPidThatIsNone) {
  EXPECT_TRUE(in_child([&] { return !KillScope::enter(ruleset_.get(), {}).proven(); }));
  EXPECT_TRUE(in_child([&] { return !KillScope::enter(ruleset_.get(), {{0}}).proven(); }));
  EXPECT_TRUE(in_child([&] { return !KillScope::enter(ruleset_.get(), {{-1}}).proven(); }));
}

TEST_F(KillScopeTest, WithoutARulesetIsNotProvenAndRestrictsNothing) {
  const pid_t outsider = ::getpid();
  EXPECT_TRUE(in_child(
      [&] { return !KillScope::enter(-1, {{outsider}}).proven() && ::kill(outsider, 0) == 0; }));
}

TEST_F(KillScopeTest, KillsItsDomainAndNobodyElse) {
  const pid_t outsider = ::getpid();
  EXPECT_TRUE(in_child([&] {
    const auto scope = KillScope::enter(ruleset_.get(), {{outsider}});
    if (!scope.proven()) return false;
    const pid_t inside = ::fork();
    if (inside == 0) {
      ::setsid();
      for (;;) ::pause();
    }
    scope.signal_all(SIGKILL);
    int status = 0;
    return ::waitpid(inside, &status, 0) == inside && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGKILL;
  }));  // this process is the bystander
}

using KillScopeDeathTest = KillScopeTest;

// Signal 0, so that a failure of this test harms nobody.
TEST_F(KillScopeDeathTest, UnprovenSignalsNobody) {
  EXPECT_DEATH(KillScope().signal_all(0), "broken promise");
}

TEST(Sweep, SignalsDescendantsPinnedAndLeavesTheSpared) {
  EXPECT_TRUE(in_child([] {
    pid_t children[2];
    for (pid_t& child : children) {
      child = ::fork();
      if (child == 0) {
        ::setsid();
        for (;;) ::pause();
      }
    }
    if (sweep(SIGKILL, {{children[1]}}) != 1) return false;
    int status = 0;
    if (::waitpid(-1, &status, 0) != children[0]) return false;
    const bool spared_lives = ::waitpid(children[1], &status, WNOHANG) == 0;
    ::kill(children[1], SIGKILL);
    ::waitpid(children[1], &status, 0);
    return spared_lives && sweep(SIGKILL, {}) == 0;
  }));
}

}  // namespace
}  // namespace guard::supervise
