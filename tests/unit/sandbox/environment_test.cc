#include "common/sandbox/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::sandbox {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> kCaller = {"PATH=/bin",        "API_KEY=secret", "LC_ALL=C",
                                          "HOME=/home/u",     "TMPDIR=/t",      "LD_PRELOAD=/x.so",
                                          "GUARDD_SOCKET=/s", "LISTEN_FDS=1",   "NOTIFY_SOCKET=/n"};

TEST(Environment, OnlyListedVariablesPassAndTheRestIsCounted) {
  const Environment result = build_environment(kCaller, {});
  EXPECT_THAT(result.variables, ElementsAre("PATH=/bin", "LC_ALL=C", "HOME=/home/u", "TMPDIR=/t"));
  EXPECT_EQ(result.passed, 4u);
  EXPECT_EQ(result.withheld, 5u);
}

TEST(Environment, EvenInheritingAllLeavesTheWayToTheDaemonBehind) {
  EnvRequest request;
  request.inherit = true;
  const Environment result = build_environment(kCaller, request);
  EXPECT_THAT(result.variables, Contains("API_KEY=secret"));
  EXPECT_THAT(result.variables, Not(Contains(StartsWith("GUARDD_"))));
  EXPECT_THAT(result.variables, Not(Contains(StartsWith("LISTEN_"))));
  EXPECT_THAT(result.variables, Not(Contains(StartsWith("NOTIFY_SOCKET"))));
  EXPECT_EQ(result.withheld, 3u);
}

TEST(Environment, ThePrivateFoldersReplaceTheCallersAndCountAsNeither) {
  EnvRequest request;
  request.private_home = "/p/home";
  request.private_tmp = "/p/tmp";
  const Environment result = build_environment(kCaller, request);
  EXPECT_THAT(result.variables,
              ElementsAre("PATH=/bin", "LC_ALL=C", "HOME=/p/home", "TMPDIR=/p/tmp"));
  EXPECT_EQ(result.passed, 2u);
  EXPECT_EQ(result.withheld, 5u);
}

TEST(Environment, AChoiceWinsOverThePrivateFolder) {
  EnvRequest request;
  request.private_home = "/p/home";
  request.choices = {{"HOME", std::nullopt}};
  EXPECT_THAT(build_environment(kCaller, request).variables, Contains("HOME=/home/u"));
  request.choices = {{"HOME", "/h"}};
  const auto variables = build_environment(kCaller, request).variables;
  EXPECT_THAT(variables, Contains("HOME=/h"));
  EXPECT_THAT(variables, Not(Contains("HOME=/home/u")));
  EXPECT_THAT(variables, Not(Contains("HOME=/p/home")));
}

TEST(Environment, TheLastChoiceOfANameCounts) {
  EnvRequest request;
  request.choices = {{"A", "1"}, {"A", "2"}, {"API_KEY", std::nullopt}};
  const Environment result = build_environment(kCaller, request);
  EXPECT_THAT(result.variables, Contains("A=2"));
  EXPECT_THAT(result.variables, Not(Contains("A=1")));
  EXPECT_THAT(result.variables, Contains("API_KEY=secret"));
}

TEST(Environment, AnUnsetVariableIsNamed) {
  EnvRequest request;
  request.choices = {{"GONE", std::nullopt}};
  EXPECT_THAT(build_environment(kCaller, request).not_set, ElementsAre("GONE"));
}

TEST(Environment, OfTwoWithOneNameTheFirstCountsAsForGetenv) {
  EXPECT_THAT(build_environment({"PATH=/a", "PATH=/b", "", "junk", "=x"}, {}).variables,
              ElementsAre("PATH=/a"));
}

TEST(Environment, TheSharedMemoryShimNeedsAPrivateFolderAndYieldsToTheCallersChoice) {
  EnvRequest request;
  request.shared_memory_shim = "/s/libguard-shm.so";
  EXPECT_THAT(build_environment({}, request).variables, ElementsAre());
  request.private_tmp = "/t";
  EXPECT_THAT(build_environment({"LD_PRELOAD=/evil.so"}, request).variables,
              ElementsAre("TMPDIR=/t", "LD_PRELOAD=/s/libguard-shm.so", "GUARD_SHM_DIR=/t"));
  request.choices = {{"LD_PRELOAD", ""}};
  EXPECT_THAT(build_environment({}, request).variables,
              ElementsAre("TMPDIR=/t", "GUARD_SHM_DIR=/t", "LD_PRELOAD="));
  request.choices = {};
  request.inherit = true;
  EXPECT_THAT(build_environment({"LD_PRELOAD=/mine.so"}, request).variables,
              ElementsAre("LD_PRELOAD=/mine.so", "TMPDIR=/t", "GUARD_SHM_DIR=/t"));
}

TEST(EnvChoice, TakesNamesWithAndWithoutValue) {
  EXPECT_EQ(*parse_env_choice("A"), (EnvChoice{"A", std::nullopt}));
  EXPECT_EQ(*parse_env_choice("A="), (EnvChoice{"A", ""}));
  EXPECT_EQ(*parse_env_choice("A=b=c"), (EnvChoice{"A", "b=c"}));
}

TEST(EnvChoice, RefusesNoNameAndWhatNeverPasses) {
  EXPECT_FALSE(parse_env_choice(""));
  EXPECT_FALSE(parse_env_choice("=x"));
  const auto refused = parse_env_choice("GUARDD_SOCKET=/s");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("never passes"));
}

TEST(EnvValue, IsTheFirstOfThatNameOrEmpty) {
  EXPECT_EQ(value_of({"AB=1", "A=2", "A=3"}, "A"), "2");
  EXPECT_EQ(value_of({"A="}, "A"), "");
  EXPECT_EQ(value_of({}, "A"), "");
}

}  // namespace
}  // namespace guard::sandbox
