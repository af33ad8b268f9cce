#include "common/sandbox/policy_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<PolicyRequest> parse(const std::vector<std::string>& arguments, std::string cwd = "/w") {
  PolicyFlags flags(std::move(cwd));
  std::size_t index = 0;
  while (index < arguments.size()) {
    auto taken = flags.consume(arguments, index);
    if (!taken) return std::unexpected(taken.error());
    if (!*taken) return failure(Errc::kInvalid, "not a policy flag: " + arguments[index]);
  }
  return flags.finish();
}

Error refusal(const std::vector<std::string>& arguments, std::string cwd = "/w") {
  const auto parsed = parse(arguments, std::move(cwd));
  EXPECT_FALSE(parsed);
  return parsed ? Error{} : parsed.error();
}

TEST(PolicyFlags, PathsBecomeAbsoluteAgainstWhereTheyWereTyped) {
  const auto parsed = parse({"--allow-read", "a", "--allow-write=./b/", "--allow-read=?c",
                             "--allow-read", "../d", "--cd", "/elsewhere"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->policy.paths,
              ElementsAre(PathGrant{"/w/a"}, PathGrant{"/w/b", Access::kWrite},
                          PathGrant{"/w/c", Access::kRead, true}, PathGrant{"/w/../d"}));
  EXPECT_EQ(parsed->directory, "/elsewhere");
}

TEST(PolicyFlags, PathsMayHoldCommasBlanksEqualSignsAndAnyBytes) {
  const auto parsed = parse({"--allow-read=a=b,c d\n\xff", "--allow-read", "-x"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->policy.paths, ElementsAre(PathGrant{"/w/a=b,c d\n\xff"}, PathGrant{"/w/-x"}));
}

TEST(PolicyFlags, TheSameGrantTwiceIsOne) {
  EXPECT_EQ(parse({"--allow-read", "a", "--allow-read", "./a"})->policy.paths.size(), 1u);
}

TEST(PolicyFlags, AnEmptyPathIsAnErrorAndNotTheWorkingDirectory) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--allow-read", ""}, {"--allow-write="}, {"--allow-read", "?"}, {"--cd", ""}}) {
    EXPECT_THAT(refusal(arguments).what, HasSubstr("empty"));
  }
}

TEST(PolicyFlags, ARelativePathNeedsAWorkingDirectory) {
  EXPECT_THAT(refusal({"--allow-read", "x"}, "").what, HasSubstr("relative"));
  EXPECT_TRUE(parse({"--allow-read", "/x"}, ""));
}

TEST(PolicyFlags, PortsAreNumbersInRange) {
  const auto parsed = parse({"--allow-connect", "443", "--allow-bind=0", "--allow-bind", "65535"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->policy.allow_connect, ElementsAre(443));
  EXPECT_THAT(parsed->policy.allow_bind, ElementsAre(0, 65535));
  for (const char* port : {"0", "65536", "-1", "abc", "", "443x", " 443", "4294967739"}) {
    EXPECT_THAT(refusal({"--allow-connect", port}).what, HasSubstr("is no port")) << port;
  }
  EXPECT_THAT(refusal({"--allow-connect", "example.org:443"}).hint, HasSubstr("any host"));
  EXPECT_THAT(refusal({"--allow-connect", "80,443"}).hint, HasSubstr("repeat"));
  EXPECT_THAT(refusal({"--allow-bind", "8000-8100"}).hint, HasSubstr("repeat"));
}

TEST(PolicyFlags, ContradictionsNameBothFlags) {
  const Error error = refusal({"--strict", "--best-effort"});
  EXPECT_THAT(error.what, HasSubstr("--strict and --best-effort"));
  EXPECT_THAT(refusal({"--unsafe-no-guard", "--strict"}).what, HasSubstr("--unsafe-no-guard"));
  EXPECT_THAT(refusal({"--unsafe-no-guard", "--best-effort"}).what, HasSubstr("--best-effort"));
}

TEST(PolicyFlags, OneOfTwoWorkingDirectoriesIsNotGuessed) {
  EXPECT_EQ(refusal({"--cd", "a", "--cd=b"}).what, "--cd is given twice");
  EXPECT_EQ(refusal({"--cd", "a", "--cd", "a"}).what, "--cd is given twice");
}

TEST(PolicyFlags, ASwitchTakesNoValueAndAnOptionNeedsOne) {
  EXPECT_THAT(refusal({"--strict=yes"}).what, HasSubstr("takes no value"));
  EXPECT_THAT(refusal({"--allow-read"}).what, HasSubstr("lacks its PATH"));
  EXPECT_THAT(refusal({"--allow-read", "--"}).what, HasSubstr("lacks its PATH"));
}

TEST(PolicyFlags, EveryFlagOfTheTableIsUnderstood) {
  for (const FlagRow& row : policy_flag_table()) {
    PolicyFlags flags("/w");
    std::optional<std::string_view> value;
    if (row.argument == "PORT") value = "80";
    if (row.argument == "PATH" || row.argument == "DIR") value = "x";
    if (row.argument == "NAME[=VALUE]") value = "A=1";
    EXPECT_TRUE(flags.apply(row.name, value)) << row.name;
    EXPECT_NE(*flags.finish(), PolicyRequest{}) << row.name << " changes nothing";
    EXPECT_TRUE(PolicyFlags::takes(row.name));
  }
}

TEST(PolicyFlags, OtherWordsAreLeftToTheCaller) {
  PolicyFlags flags("/w");
  const std::vector<std::string> arguments = {"--verbose", "file", "-"};
  std::size_t index = 0;
  for (; index < arguments.size(); ++index) EXPECT_FALSE(*flags.consume(arguments, index));
}

TEST(WorkingDirectory, IsGrantedForReading) {
  PolicyRequest request;
  EXPECT_EQ(grant_working_directory(request, "/w/x", "/home/u"), "");
  EXPECT_THAT(request.policy.paths,
              ElementsAre(PathGrant{"/w/x", Access::kRead, false, Origin::kCwd}));
}

TEST(WorkingDirectory, IsNeverGrantedWhenItIsHomeOrAboveIt) {
  for (const char* directory : {"/", "/home", "/home/u"}) {
    PolicyRequest request;
    EXPECT_THAT(grant_working_directory(request, directory, "/home/u"), HasSubstr("home"));
    EXPECT_TRUE(request.policy.paths.empty()) << directory;
  }
  PolicyRequest below;
  EXPECT_EQ(grant_working_directory(below, "/home/u/work", "/home/u"), "");
  EXPECT_FALSE(below.policy.paths.empty());
  PolicyRequest homeless;
  EXPECT_NE(grant_working_directory(homeless, "/", ""), "");
  EXPECT_TRUE(homeless.policy.paths.empty());
}

TEST(WorkingDirectory, IsNotNamedTwiceNorAgainstTheCallersWish) {
  auto request = *parse({"--allow-write", "."});
  EXPECT_EQ(grant_working_directory(request, "/w", ""), "");
  EXPECT_EQ(request.policy.paths.size(), 1u);
  auto refused = *parse({"--no-cwd"});
  EXPECT_EQ(grant_working_directory(refused, "/w", ""), "");
  EXPECT_TRUE(refused.policy.paths.empty());
}

}  // namespace
}  // namespace guard::sandbox
