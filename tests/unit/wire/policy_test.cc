#include "common/wire/policy.h"

#include <string>

#include <gmock/gmock.h>

#include "common/wire/limits.h"

namespace guard::wire {
namespace {

using sandbox::Access;
using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::Policy reading(const std::string& path) {
  v1::Policy policy;
  policy.add_allow_read()->set_path(path);
  return policy;
}

Error error_of(const v1::Policy& policy) {
  const auto parsed = policy_from(policy);
  return parsed ? Error{} : parsed.error();
}

TEST(PolicyFrom, AnEmptyMessageIsTheDefaultPolicy) {
  const auto policy = policy_from(v1::Policy());
  ASSERT_TRUE(policy);
  EXPECT_EQ(*policy, sandbox::Policy());
}

TEST(PolicyFrom, ReadsGrantsInOrderReadsFirst) {
  v1::Policy message;
  message.add_allow_write()->set_path_text("/w");
  message.add_allow_read()->set_path("/r\xff");
  message.mutable_allow_read(0)->set_optional(true);
  const auto policy = policy_from(message);
  ASSERT_TRUE(policy);
  ASSERT_EQ(policy->paths.size(), 2u);
  EXPECT_EQ(policy->paths[0], (sandbox::PathGrant{"/r\xff", Access::kRead, true}));
  EXPECT_EQ(policy->paths[1], (sandbox::PathGrant{"/w", Access::kWrite, false}));
}

TEST(PolicyFrom, NamesTheGrantThatIsWrong) {
  v1::Policy message = reading("/fine");
  message.add_allow_read();
  EXPECT_EQ(error_of(message).what, "policy.allow_read[1].path: the path is empty");
  message.mutable_allow_read(1)->set_path_text("etc");
  EXPECT_EQ(error_of(message).what, "policy.allow_read[1].path_text: 'etc' is not absolute");
  message.mutable_allow_read(1)->set_path("/also");
  EXPECT_THAT(error_of(message).what, StartsWith("policy.allow_read[1]: gives path and path_text"));
}

TEST(PolicyFrom, UsesTheNameThatTheFieldHasInItsRequest) {
  const auto parsed = policy_from(reading("x"), "base");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().what, StartsWith("base.allow_read[0]"));
}

TEST(PolicyFrom, ShowsHostilePathsEscaped) {
  EXPECT_THAT(error_of(reading("a\x1b[2J")).what, HasSubstr("a\\e[2J"));
}

TEST(PolicyFrom, RefusesNulAndTooLongPaths) {
  EXPECT_THAT(error_of(reading(std::string("/a\0b", 4))).what, HasSubstr("NUL"));
  EXPECT_TRUE(policy_from(reading("/" + std::string(kMaxPathBytes - 1, 'x'))));
  EXPECT_THAT(error_of(reading("/" + std::string(kMaxPathBytes, 'x'))).what, HasSubstr("4096"));
}

TEST(PolicyFrom, LimitsTheNumberOfPaths) {
  v1::Policy message;
  for (std::size_t i = 0; i < kMaxPaths; ++i) message.add_allow_read()->set_path("/x");
  EXPECT_TRUE(policy_from(message));
  message.add_allow_write()->set_path("/x");
  EXPECT_EQ(error_of(message).code, Errc::kInvalid);
  EXPECT_THAT(error_of(message).what, HasSubstr("4097"));
}

TEST(PolicyFrom, TakesPorts) {
  v1::Policy message;
  message.add_allow_connect("443");
  message.add_allow_connect("65535");
  message.add_allow_bind("0");
  const auto policy = policy_from(message);
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->allow_connect, (std::vector<std::uint16_t>{443, 65535}));
  EXPECT_EQ(policy->allow_bind, (std::vector<std::uint16_t>{0}));
}

TEST(PolicyFrom, RefusesWhatIsNoPort) {
  for (const char* text :
       {"", "0", "65536", "-1", "+80", "080", " 80", "80 ", "http", "4294967376"}) {
    v1::Policy message;
    message.add_allow_connect("443");
    message.add_allow_connect(text);
    EXPECT_EQ(error_of(message).code, Errc::kInvalid) << text;
    EXPECT_THAT(error_of(message).what, StartsWith("policy.allow_connect[1]: ")) << text;
  }
}

TEST(PolicyFrom, HostsAndRangesAreUnimplementedNotInvalid) {
  for (const char* text : {"example.org:443", "80-90", "*"}) {
    v1::Policy message;
    message.add_allow_bind(text);
    EXPECT_EQ(error_of(message).code, Errc::kUnimplemented) << text;
  }
}

TEST(PolicyFrom, WhatIsNotBuiltIsNeverSkipped) {
  v1::Policy message;
  message.add_deny()->set_path("/home");
  EXPECT_EQ(error_of(message).code, Errc::kUnimplemented);
  EXPECT_THAT(error_of(message).what, StartsWith("policy.deny"));
}

TEST(PolicyFrom, AFieldThatThisBuildDoesNotKnowIsRefused) {
  v1::Policy message;
  ASSERT_TRUE(message.ParseFromString(std::string("\xfa\x3f\x01x", 4)));  // field 1023
  EXPECT_EQ(error_of(message).code, Errc::kUnimplemented);
  EXPECT_THAT(error_of(message).what, HasSubstr("1023"));
  v1::Policy nested;
  ASSERT_TRUE(nested.mutable_limits()->ParseFromString(std::string("\xfa\x3f\x01x", 4)));
  EXPECT_THAT(error_of(nested).what, StartsWith("policy.limits"));
}

TEST(PolicyFrom, AnUnknownLevelIsAnError) {
  v1::Policy message;
  message.set_level(static_cast<v1::Level>(77));
  EXPECT_EQ(error_of(message).what, "policy.level: unknown value 77");
}

TEST(PolicyFrom, ReadsLimits) {
  v1::Policy message;
  v1::Limits& limits = *message.mutable_limits();
  limits.mutable_wall()->set_nanos(1);  // rounded up: never "no limit"
  limits.mutable_cpu()->set_seconds(2);
  limits.set_memory_bytes(3);
  limits.set_open_files(4);
  const auto policy = policy_from(message);
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->limits.wall, std::chrono::milliseconds(1));
  EXPECT_EQ(policy->limits.cpu, std::chrono::seconds(2));
  EXPECT_EQ(policy->limits.memory_bytes, 3u);
  EXPECT_EQ(policy->limits.open_files, 4u);
  EXPECT_EQ(policy->limits.processes, std::nullopt);
}

TEST(PolicyFrom, RefusesLimitsThatMakeNoSense) {
  const auto with = [](auto change) {
    v1::Policy message;
    change(*message.mutable_limits());
    return error_of(message).what;
  };
  EXPECT_THAT(with([](v1::Limits& l) { l.mutable_wall(); }),
              StartsWith("policy.limits.wall: is zero"));
  EXPECT_THAT(with([](v1::Limits& l) { l.mutable_wall()->set_seconds(-1); }),
              HasSubstr("negative"));
  EXPECT_THAT(with([](v1::Limits& l) { l.mutable_wall()->set_nanos(1'000'000'000); }),
              HasSubstr("out of range"));
  EXPECT_THAT(with([](v1::Limits& l) { l.mutable_wall()->set_seconds(1LL << 60); }),
              HasSubstr("longer than"));
  EXPECT_THAT(with([](v1::Limits& l) { l.mutable_cpu()->set_nanos(1); }),
              HasSubstr("whole number"));
  EXPECT_THAT(with([](v1::Limits& l) { l.set_open_files(2); }),
              StartsWith("policy.limits.open_files"));
}

TEST(Policy, SurvivesTheWire) {
  sandbox::Policy policy;
  policy.paths = {{"/r", Access::kRead, true}, {"/r\xff", Access::kRead}, {"/w", Access::kWrite}};
  policy.default_grants = false;
  policy.real_home = true;
  policy.allow_connect = {443, 80};
  policy.allow_bind = {0, 8080};
  policy.allow_ptrace = true;
  policy.level = sandbox::Level::kStrict;
  policy.limits = {.wall = std::chrono::milliseconds(1500),
                   .cpu = std::chrono::seconds(7),
                   .memory_bytes = 1,
                   .processes = 2,
                   .file_size_bytes = 3,
                   .open_files = 4,
                   .output_bytes = 5};
  const auto back = policy_from(to_proto(policy));
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(*back, policy);
}

TEST(Policy, GrantsThatGuarddAddsAreNotSent) {
  sandbox::Policy policy;
  policy.paths = {{"/b", Access::kRead, true, sandbox::Origin::kBase},
                  {"/c", Access::kRead, false, sandbox::Origin::kCwd}};
  EXPECT_TRUE(to_proto(policy).allow_read().empty());
}

}  // namespace
}  // namespace guard::wire
