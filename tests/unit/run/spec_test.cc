#include "common/run/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::run {
namespace {

using std::string_literals::operator""s;
using testing::ElementsAre;
using testing::HasSubstr;

Spec runnable() {
  Spec spec;
  spec.argv = {"true"};
  return spec;
}

std::string complaint(const Spec& spec) {
  const auto verdict = validate(spec);
  if (verdict) return "";
  EXPECT_EQ(verdict.error().code, Errc::kInvalid);
  return verdict.error().what;
}

TEST(SpecValidate, AcceptsTheSmallestRun) { EXPECT_EQ(complaint(runnable()), ""); }

TEST(SpecValidate, NamesTheArgumentThatIsTooLong) {
  Spec spec = runnable();
  spec.argv = {"echo", "a", "b", std::string(131'071, 'x')};
  EXPECT_EQ(complaint(spec), "");
  spec.argv[3] += 'x';
  EXPECT_EQ(complaint(spec),
            "args[3] is 131,072 bytes; the kernel takes at most 131,071 in one argument");
}

TEST(SpecValidate, RefusesWhatExecveWouldMisread) {
  Spec spec = runnable();
  spec.argv = {};
  EXPECT_EQ(complaint(spec), "args is empty");
  spec.argv = {""};
  EXPECT_EQ(complaint(spec), "args[0] is empty");
  spec.argv = {"true", "a\0b"s};
  EXPECT_EQ(complaint(spec), "args[1] has a NUL byte");
  spec.argv.assign(kMaxArgs + 1, "x");
  EXPECT_EQ(complaint(spec), "args has 65,537 entries; at most 65,536 are taken");
}

TEST(SpecValidate, AcceptsArgumentsThatAreNotUtf8AndEmptyOnes) {
  Spec spec = runnable();
  spec.argv = {"printf", "\xff\xfe", ""};
  EXPECT_EQ(complaint(spec), "");
}

TEST(SpecValidate, ChecksTheEnvironment) {
  Spec spec = runnable();
  spec.env = {{"A", "1"}, {"B", "x=y"}};
  EXPECT_EQ(complaint(spec), "");
  spec.env = {{"A", "1"}, {"", "2"}};
  EXPECT_EQ(complaint(spec), "env[1] has no name");
  spec.env = {{"A=B", "1"}};
  EXPECT_THAT(complaint(spec), HasSubstr("'A=B'"));
  spec.env = {{"A", "1\0"s}};
  EXPECT_EQ(complaint(spec), "env 'A' has a NUL byte in its value");
  spec.env = {{"A", "1"}, {"A", "2"}};
  EXPECT_EQ(complaint(spec), "env names 'A' twice");
  spec.env = {{"LONG", std::string(131'067, 'x')}};
  EXPECT_EQ(complaint(spec),
            "env 'LONG' is 131,072 bytes; the kernel takes at most 131,071 in one variable");
}

TEST(SpecValidate, CountsArgumentsAndEnvironmentTogether) {
  Spec spec = runnable();
  spec.argv.assign(17, std::string(130'000, 'x'));
  EXPECT_THAT(complaint(spec), HasSubstr("args and env together are 2,2"));
}

TEST(SpecValidate, ChecksDirectoriesGraceAndUmask) {
  Spec spec = runnable();
  spec.cwd = "work";
  EXPECT_EQ(complaint(spec), "cwd 'work' is not absolute");
  spec.cwd = "/" + std::string(4'095, 'x');
  EXPECT_EQ(complaint(spec), "cwd is 4,096 bytes; a path is at most 4,095");
  spec = runnable();
  spec.cwd_grant = "work";
  EXPECT_EQ(complaint(spec), "cwd_grant 'work' is not absolute");
  spec = runnable();
  spec.grace = std::chrono::milliseconds(-1);
  EXPECT_EQ(complaint(spec), "grace is negative");
  spec.grace = kMaxGrace + std::chrono::milliseconds(1);
  EXPECT_EQ(complaint(spec), "grace 60.001s is too long; at most 1m");
  spec = runnable();
  spec.umask = 01000;
  EXPECT_EQ(complaint(spec), "umask 01000 is above 0777");
}

TEST(SpecValidate, PassesOnWhatIsWrongWithThePolicy) {
  Spec spec = runnable();
  spec.policy.paths.push_back({"relative", sandbox::Access::kRead, false, sandbox::Origin::kAsked});
  EXPECT_THAT(complaint(spec), HasSubstr("relative"));
}

TEST(RunIdText, IsAFileNameThatCannotLeaveItsFolder) {
  EXPECT_TRUE(is_run_id("a"));
  EXPECT_TRUE(is_run_id("01aryz6s410000000000000000"));
  EXPECT_TRUE(is_run_id("build_1.2-x"));
  EXPECT_TRUE(is_run_id(std::string(128, 'a')));
  for (const std::string& text :
       {""s, "."s, ".."s, "-x"s, "a/b"s, "a b"s, "a\0"s, "\xc3\xa4"s, std::string(129, 'a')}) {
    EXPECT_FALSE(is_run_id(text)) << text;
  }
}

TEST(ExecCandidates, FollowTheRulesOfExecvp) {
  EXPECT_THAT(exec_candidates("/bin/sh", "/usr/bin"), ElementsAre("/bin/sh"));
  EXPECT_THAT(exec_candidates("./x", "/usr/bin"), ElementsAre("./x"));
  EXPECT_THAT(exec_candidates("a/b", "/usr/bin"), ElementsAre("a/b"));
  EXPECT_THAT(exec_candidates("sh", "/usr/local/bin:/usr/bin/"),
              ElementsAre("/usr/local/bin/sh", "/usr/bin/sh"));
}

TEST(ExecCandidates, TakeAnEmptyEntryForTheWorkingDirectory) {
  EXPECT_THAT(exec_candidates("x", ":/bin:"), ElementsAre("./x", "/bin/x", "./x"));
  EXPECT_THAT(exec_candidates("x", ""), ElementsAre("./x"));
}

}  // namespace
}  // namespace guard::run
