#include "common/sandbox/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::sandbox {
namespace {

using ::testing::HasSubstr;

std::string verdict(const Policy& policy) {
  const auto result = validate(policy);
  if (result) return "valid";
  EXPECT_EQ(result.error().code, Errc::kInvalid);
  return result.error().what;
}

Policy granting(std::string path, Access access = Access::kRead) {
  Policy policy;
  policy.paths.push_back({std::move(path), access});
  return policy;
}

TEST(PolicyValidate, AcceptsTheEmptyPolicy) { EXPECT_EQ(verdict({}), "valid"); }

TEST(PolicyValidate, RefusesPathsThatNameNothingAbsolute) {
  EXPECT_EQ(verdict(granting("")), "allow_read: the path is empty");
  EXPECT_EQ(verdict(granting("x", Access::kWrite)), "allow_write 'x' is not absolute");
  EXPECT_THAT(verdict(granting(std::string("/a\0b", 4))), HasSubstr("NUL"));
}

TEST(PolicyValidate, TakesPathsOfAnyOtherBytes) {
  EXPECT_EQ(verdict(granting("/a b,c\n\xff\xfe")), "valid");
}

TEST(PolicyValidate, PortZeroIsForListeningOnly) {
  Policy policy;
  policy.allow_bind = {0};
  EXPECT_EQ(verdict(policy), "valid");
  policy.allow_connect = {443, 0};
  EXPECT_THAT(verdict(policy), HasSubstr("allow_connect"));
}

TEST(PolicyValidate, ALimitOfZeroIsAnErrorAndNamesItsField) {
  Policy policy;
  policy.limits.memory_bytes = 0;
  EXPECT_THAT(verdict(policy), HasSubstr("limits.memory"));
  policy.limits = {};
  policy.limits.wall = std::chrono::milliseconds(-1);
  EXPECT_THAT(verdict(policy), HasSubstr("limits.wall"));
  policy.limits = {};
  policy.limits.open_files = 2;
  EXPECT_THAT(verdict(policy), HasSubstr("limits.open_files"));
}

}  // namespace
}  // namespace guard::sandbox
