#include "client/oneshot/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/oneshot/help.h"

namespace guard::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Options> parse(const std::vector<std::string>& arguments) {
  return parse_options(arguments, "/w");
}
Error refusal(const std::vector<std::string>& arguments) {
  const auto parsed = parse(arguments);
  EXPECT_FALSE(parsed);
  return parsed ? Error{} : parsed.error();
}

TEST(Options, TheCommandIsWhatFollowsTheDashes) {
  const auto parsed = parse({"--allow-write", "./workspace", "--", "python3", "--", "-v"});
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_THAT(parsed->command, ElementsAre("python3", "--", "-v"));
  EXPECT_EQ(parsed->request.policy.paths.at(0).path, "/w/workspace");
  EXPECT_FALSE(parsed->verbose);
}

TEST(Options, AForgottenSeparatorIsNotGuessed) {
  EXPECT_THAT(refusal({"python3", "agent.py"}).hint, HasSubstr("put -- before the command"));
  EXPECT_THAT(refusal({}).what, HasSubstr("no command"));
  EXPECT_THAT(refusal({"--"}).what, HasSubstr("nothing comes after --"));
  EXPECT_THAT(refusal({"--allow-read", "--", "true"}).what, HasSubstr("lacks its PATH"));
}

TEST(Options, UnknownFlagsAreErrorsWithTheNearestName) {
  EXPECT_THAT(refusal({"--alow-read", "x", "--", "true"}).hint, HasSubstr("--allow-read"));
  EXPECT_THAT(refusal({"--deny-read", "x", "--", "true"}).hint, HasSubstr("allow list"));
  EXPECT_THAT(refusal({"--qiet", "--", "true"}).hint, HasSubstr("--quiet"));
}

TEST(Options, FlagsOfGuardctlRunSayWhatToUseInstead) {
  EXPECT_THAT(refusal({"--timeout", "1s", "--", "true"}).hint, HasSubstr("guardctl run"));
  EXPECT_THAT(refusal({"--grace=1s", "--", "true"}).hint, HasSubstr("guardctl run"));
  EXPECT_THAT(refusal({"-n", "--", "true"}).hint, HasSubstr("</dev/null"));
  EXPECT_THAT(refusal({"--json", "--", "true"}).hint, HasSubstr("--json-report FD"));
  EXPECT_THAT(refusal({"--socket=/x", "--", "true"}).hint, HasSubstr("guardctl run"));
}

TEST(Options, OneOfTwoValuesIsNotGuessed) {
  EXPECT_EQ(refusal({"--cd", "a", "--cd", "b", "--", "true"}).what, "--cd is given twice");
  EXPECT_EQ(refusal({"--json-report=3", "--json-report", "4", "--", "true"}).what,
            "--json-report is given twice");
}

TEST(Options, ShortFormsExistForThreeFlags) {
  EXPECT_TRUE(parse({"-v", "--", "x"})->verbose);
  EXPECT_TRUE(parse({"-q", "--", "x"})->quiet);
  EXPECT_EQ(parse({"-h"})->verb, Verb::kHelp);
  EXPECT_THAT(refusal({"-q", "-v", "--", "x"}).what, HasSubstr("contradict"));
}

TEST(Options, CheckNeedsNoCommand) {
  EXPECT_EQ(parse({"--check", "--allow-read", "x"})->verb, Verb::kCheck);
  EXPECT_EQ(parse({"--list-syscalls"})->verb, Verb::kListSyscalls);
  EXPECT_EQ(parse({"--version", "--nonsense"})->verb, Verb::kVersion);
}

TEST(Options, TheReportsDescriptorIsANumber) {
  EXPECT_EQ(parse({"--json-report", "3", "--", "x"})->json_report, 3);
  EXPECT_EQ(parse({"--json-report=2", "--", "x"})->json_report, 2);
  for (const char* fd : {"", "0", "-1", "x", "3x", "99999999999"}) {
    EXPECT_THAT(refusal({"--json-report", fd, "--", "x"}).what, HasSubstr("descriptor")) << fd;
  }
}

TEST(Help, NamesEveryFlag) {
  const std::string help = help_text();
  for (const auto& row : sandbox::policy_flag_table()) EXPECT_THAT(help, HasSubstr(row.name));
  for (const auto& row : oneshot_flag_table()) EXPECT_THAT(help, HasSubstr(row.name));
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = help.find('\n', at);
    EXPECT_LE(end - at, 100u) << help.substr(at, end - at);
    at = end + 1;
  }
}

TEST(Help, ListsSyscallsWithVerdictAndReason) {
  const std::string text = syscall_text({});
  EXPECT_THAT(text, HasSubstr("clone3"));
  EXPECT_THAT(text, HasSubstr("ENOSYS"));
}

}  // namespace
}  // namespace guard::client
