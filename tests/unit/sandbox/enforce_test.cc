#include "common/sandbox/enforce.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sandbox/capabilities.h"
#include "common/sandbox/compile.h"
#include "common/sandbox/landlock/ruleset.h"
#include "common/sandbox/seccomp/program.h"
#include "common/sandbox/witness.h"
#include "tests/unit/sandbox/temporary_folder.h"

namespace guard::sandbox {
namespace {

// What `act` returns in a child that may be restricted for good; 0..255, or 1000 + signal.
int in_child(const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

constexpr int code_of(Stage stage) { return 100 + static_cast<int>(stage); }
constexpr int code_of(WitnessAxis axis) { return 200 + static_cast<int>(axis); }
int code_of(const Outcome& outcome) {
  if (outcome.stage == Stage::kNone) return 0;
  if (outcome.stage == Stage::kWitness) return code_of(static_cast<WitnessAxis>(outcome.axis));
  return code_of(outcome.stage);
}

// A filter that answers one call with success and does nothing, as a kernel or a supervisor might.
void fake(long number, std::uint32_t action) {
  seccomp::Assembler code;
  const auto other = code.label();
  code.load(seccomp::kNumberOffset);
  code.if_not_equal(static_cast<std::uint32_t>(number), other);
  code.ret(action);
  code.bind(other);
  code.ret(SECCOMP_RET_ALLOW);
  auto program = code.finish();
  const sock_fprog filter{static_cast<unsigned short>(program->size()), program->data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) ::_exit(99);
}
constexpr std::uint32_t kFakeSuccess = SECCOMP_RET_ERRNO;

class Enforce : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto kernel = probe();
    ASSERT_TRUE(kernel);
    if (kernel->landlock_abi < 1) GTEST_SKIP() << "kernel: no Landlock";
    kernel_ = *kernel;
    folder_.make_folder("rw");
    folder_.make_folder("canary");
    folder_.make_file("canary/c");
    folder_.make_file("secret");
    canary_ = os::UniqueFd(::open((folder_ / "canary").c_str(), O_PATH | O_CLOEXEC));
    policy_.paths = {{folder_ / "rw", Access::kWrite}};
  }

  // The canary is outside the grants unless a test moves it.
  Orders orders() {
    auto resolved = resolve(policy_, {});
    GUARD_CHECK(resolved);
    auto compiled = compile(*resolved, kernel_, Supervision::kNone);
    GUARD_CHECK(compiled);
    auto staged = stage(compiled->plan, *resolved);
    GUARD_CHECK(staged);
    staged_ = *std::move(staged);
    Orders orders = staged_.orders();
    orders.canary_dir_fd = canary_.get();
    orders.canary_name = "c";
    return orders;
  }

  int outcome(const Orders& orders, const std::function<void()>& before = [] {}) {
    return in_child([&] {
      before();
      return code_of(enforce(orders));
    });
  }

  TemporaryFolder folder_;
  KernelSupport kernel_;
  Policy policy_;
  os::UniqueFd canary_;
  Staged staged_;
};

TEST_F(Enforce, ConfinesTheCallingProcess) {
  const Orders on = orders();
  const std::string secret = folder_ / "secret";
  const std::string inside = folder_ / "rw/new";
  const auto attempts = [&] {
    int refused = 0;
    refused += ::open(secret.c_str(), O_RDONLY) < 0 && errno == EACCES;
    refused += ::socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM;
    refused += ::syscall(SYS_unshare, 0) < 0 && errno == EPERM;
    return refused;
  };
  EXPECT_EQ(in_child(attempts), 0) << "unconfined, all of it works";
  EXPECT_EQ(in_child([&] {
              if (const int code = code_of(enforce(on)); code != 0) return code;
              if (::open(inside.c_str(), O_CREAT | O_WRONLY, 0600) < 0) return 50;
              if (::open("/etc/passwd", O_RDONLY) < 0) return 51;
              return attempts();
            }),
            3);
}

TEST_F(Enforce, PutsNothingOnWithoutConfinement) {
  Orders none;
  none.confine = false;
  EXPECT_EQ(in_child([&] {
              const int code = code_of(enforce(none));
              return code + ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
            }),
            0);
}

TEST_F(Enforce, LeavesNoCapabilityAndTheCoreLimit) {
  const Orders on = orders();
  EXPECT_EQ(in_child([&] {
              if (const int code = code_of(enforce(on)); code != 0) return code;
              rlimit core{};
              ::getrlimit(RLIMIT_CORE, &core);
              return (has_no_capabilities() ? 0 : 1) + (core.rlim_max <= 1 ? 0 : 2);
            }),
            0);
}

TEST_F(Enforce, ACallersLowerLimitIsKept) {
  policy_.limits.open_files = 200;
  const Orders on = orders();
  EXPECT_EQ(in_child([&] {
              const rlimit low{100, 100};
              ::setrlimit(RLIMIT_NOFILE, &low);
              if (const int code = code_of(enforce(on)); code != 0) return code;
              rlimit now{};
              ::getrlimit(RLIMIT_NOFILE, &now);
              return static_cast<int>(now.rlim_max);
            }),
            100);
}

TEST_F(Enforce, WithoutNoNewPrivsNothingGoesOn) {
  const Orders on = orders();
  EXPECT_EQ(outcome(on, [] { fake(SYS_prctl, SECCOMP_RET_ERRNO | EPERM); }),
            code_of(Stage::kCapabilities));
  // The call that says yes and does nothing: the witness asks again.
  EXPECT_EQ(outcome(on, [] { fake(SYS_prctl, kFakeSuccess); }), code_of(WitnessAxis::kNoNewPrivs));
}

TEST_F(Enforce, AFailingLandlockOrSeccompCallEndsIt) {
  const Orders on = orders();
  EXPECT_EQ(outcome(on, [] { fake(landlock::kSysRestrictSelf, SECCOMP_RET_ERRNO | ENOSYS); }),
            code_of(Stage::kLandlock));
  EXPECT_EQ(outcome(on, [] { fake(SYS_seccomp, SECCOMP_RET_ERRNO | EINVAL); }),
            code_of(Stage::kSeccomp));
  Orders no_ruleset = on;
  no_ruleset.ruleset_fd = -1;
  EXPECT_EQ(outcome(no_ruleset), code_of(Stage::kLandlock));
}

TEST_F(Enforce, TheWitnessSeesAKernelThatOnlySaysYes) {
  const Orders on = orders();
  EXPECT_EQ(outcome(on, [] { fake(landlock::kSysRestrictSelf, kFakeSuccess); }),
            code_of(WitnessAxis::kFileAccess));
  EXPECT_EQ(outcome(on, [] { fake(SYS_seccomp, kFakeSuccess); }), code_of(WitnessAxis::kSocket));
}

TEST_F(Enforce, TheWitnessSeesACanaryThatAGrantCovers) {
  policy_.paths.push_back({folder_.path(), Access::kRead});
  EXPECT_EQ(outcome(orders()), code_of(WitnessAxis::kFileAccess));
}

TEST_F(Enforce, ACanaryThatIsNotThereProvesNothing) {
  Orders on = orders();
  on.canary_name = "gone";
  EXPECT_EQ(outcome(on), code_of(WitnessAxis::kFileAccess));
}

TEST_F(Enforce, TheSeventeenthLayerIsRefused) {
  const Orders on = orders();
  EXPECT_EQ(in_child([&] {
              for (int layer = 1; layer <= 16; ++layer) {
                const Outcome outcome = enforce(on);
                if (outcome.stage != Stage::kNone) return layer;
              }
              const Outcome outcome = enforce(on);
              return outcome.error == E2BIG ? code_of(outcome) : 98;
            }),
            code_of(Stage::kLandlock));
}

TEST_F(Enforce, FromAbi6NoSignalReachesTheParent) {
  if (kernel_.landlock_abi < 6) GTEST_SKIP() << "kernel: Landlock ABI " << kernel_.landlock_abi;
  const Orders on = orders();
  EXPECT_EQ(in_child([&] {
              if (::kill(::getppid(), 0) != 0) return 60;
              if (const int code = code_of(enforce(on)); code != 0) return code;
              return ::kill(::getppid(), 0) < 0 && errno == EPERM ? 0 : 61;
            }),
            0);
}

TEST_F(Enforce, InTheScopeOfAnOuterDomainRenamesAcrossFoldersStillWork) {
  if (kernel_.landlock_abi < 6) GTEST_SKIP() << "kernel: Landlock ABI " << kernel_.landlock_abi;
  folder_.make_folder("rw/a");
  folder_.make_folder("rw/b");
  const std::string from = folder_.make_file("rw/a/f");
  const Orders on = orders();
  const auto outer = landlock::signal_scope_ruleset();
  ASSERT_TRUE(outer);
  EXPECT_EQ(in_child([&] {
              ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
              if (landlock::restrict_self(outer->get()) != 0) return 70;
              if (const int code = code_of(enforce(on)); code != 0) return code;
              return ::rename(from.c_str(), (folder_ / "rw/b/f").c_str()) == 0 ? 0 : errno;
            }),
            0);
}

TEST(Stage, ARuleThatTheKernelRefusesIsAnErrorThatNamesThePath) {
  if (landlock::abi_version() < 1) GTEST_SKIP() << "kernel: no Landlock";
  ResolvedPolicy resolved;
  ResolvedGrant grant;
  grant.grant = {"/srv/x"};
  resolved.grants = {grant};  // no descriptor
  Plan plan;
  plan.handled_fs = landlock::kReadFile;
  plan.paths = {{landlock::kReadFile, 0}};
  const auto staged = stage(plan, resolved);
  ASSERT_FALSE(staged);
  EXPECT_THAT(staged.error().what, ::testing::HasSubstr("/srv/x"));
}

TEST(Witness, AxesHaveNames) {
  EXPECT_EQ(name_of(WitnessAxis::kFileAccess), "file access");
  EXPECT_EQ(name_of(static_cast<WitnessAxis>(77)), "none");
}

}  // namespace
}  // namespace guard::sandbox
