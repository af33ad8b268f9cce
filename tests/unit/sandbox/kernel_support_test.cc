#include "common/sandbox/kernel_support.h"

#include <stdlib.h>

#include <gtest/gtest.h>

namespace guard::sandbox {
namespace {

constexpr const char* kVariable = "GUARD_LANDLOCK_ABI_MAX";

class Probe : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv(kVariable); }
};

TEST_F(Probe, TheVariableLowersAndNeverRaises) {
  ::unsetenv(kVariable);
  const auto kernel = probe();
  ASSERT_TRUE(kernel);
  ::setenv(kVariable, "1", 1);
  const auto lowered = probe();
  ASSERT_TRUE(lowered);
  EXPECT_EQ(lowered->landlock_abi, std::min(1, kernel->landlock_abi));
  EXPECT_EQ(lowered->landlock_abi_kernel, kernel->landlock_abi_kernel);
  ::setenv(kVariable, "99", 1);
  EXPECT_EQ(probe()->landlock_abi, kernel->landlock_abi);
}

TEST_F(Probe, AVariableThatIsNoNumberIsAnErrorRatherThanNoSandbox) {
  for (const char* text : {"", "x", "-1", "100", "1 ", "0x1", "1.0"}) {
    ::setenv(kVariable, text, 1);
    const auto kernel = probe();
    ASSERT_FALSE(kernel) << text;
    EXPECT_EQ(kernel.error().code, Errc::kInvalid);
  }
}

}  // namespace
}  // namespace guard::sandbox
