#include "common/sandbox/landlock/ruleset.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

namespace guard::landlock {
namespace {

class Ruleset : public ::testing::Test {
 protected:
  void SetUp() override {
    if (abi_version() < 1) GTEST_SKIP() << "kernel: no Landlock";
  }
};

TEST_F(Ruleset, MustHandleSomething) {
  const auto ruleset = create_ruleset({});
  ASSERT_FALSE(ruleset);
  EXPECT_EQ(ruleset.error().os_errno, ENOMSG);
}

TEST_F(Ruleset, RefusesADirectoryRightOnADeviceInsteadOfDroppingIt) {
  const auto ruleset = create_ruleset(handled_by(1));
  ASSERT_TRUE(ruleset);
  const os::UniqueFd device(::open("/dev/null", O_PATH | O_CLOEXEC));
  const auto added = allow_path(ruleset->get(), device.get(), kReadDir);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().os_errno, EINVAL);
  EXPECT_TRUE(allow_path(ruleset->get(), device.get(), kReadFile | kWriteFile));
}

TEST_F(Ruleset, RefusesARightThatItDoesNotHandle) {
  const auto ruleset = create_ruleset({.fs = kReadFile, .net = 0, .scoped = 0});
  ASSERT_TRUE(ruleset);
  const os::UniqueFd root(::open("/", O_PATH | O_CLOEXEC));
  EXPECT_FALSE(allow_path(ruleset->get(), root.get(), kWriteFile));
}

TEST_F(Ruleset, DescriptorsAreCloseOnExec) {
  const auto ruleset = create_ruleset(handled_by(1));
  ASSERT_TRUE(ruleset);
  EXPECT_EQ(::fcntl(ruleset->get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(Ruleset, TakesEveryRightOfTheAbiThatTheKernelReports) {
  const auto ruleset = create_ruleset(handled_by(abi_version()));
  EXPECT_TRUE(ruleset);
}

TEST_F(Ruleset, TheSignalScopeCanBeBuiltFromAbi6) {
  if (abi_version() < 6) GTEST_SKIP() << "kernel: Landlock ABI " << abi_version();
  EXPECT_TRUE(signal_scope_ruleset());
}

TEST_F(Ruleset, RestrictingNeedsNoNewPrivilegesOrFails) {
  const int result = restrict_self(-1);
  EXPECT_LT(result, 0);  // EBADF, or EPERM before the descriptor is looked at
}

}  // namespace
}  // namespace guard::landlock
