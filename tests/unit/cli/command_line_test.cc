#include "client/cli/command_line.h"

#include <array>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/signal_name.h"

namespace guard::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array kTable{sandbox::FlagRow{"--json", "", ""}, kSocketRow, kHelpRow};
constexpr std::array kShort{ShortFlag{"-j", "--json"}, kHelpShort};

Result<CommandLine> parse(const std::vector<std::string>& arguments) {
  return parse_command_line(arguments, kTable, kShort);
}

TEST(CommandLine, FlagsAndOperandsMayBeMixed) {
  const std::vector<std::string> arguments{"a", "-j", "b", "--socket=/s", "-", "--", "--json"};
  const auto line = parse_command_line(arguments, kTable, kShort);
  ASSERT_TRUE(line);
  EXPECT_THAT(line->operands, ElementsAre("a", "b", "-", "--json"));
  EXPECT_TRUE(line->has("--json"));
  EXPECT_EQ(line->value_of("--socket"), "/s");
  EXPECT_FALSE(line->has("--help"));
}

TEST(CommandLine, OneValueOfAFlagIsEnough) {
  EXPECT_THAT(parse({"--socket", "/a", "--socket=/b"}).error().what, HasSubstr("--socket"));
  EXPECT_TRUE(parse({"--json", "-j"}));
}

TEST(CommandLine, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(parse({"--jsn"}).error().hint, HasSubstr("--json"));
  EXPECT_FALSE(parse({"--socket"}));
  EXPECT_FALSE(parse({"--json=1"}));
  EXPECT_TRUE(parse({"--help", "--nonsense"}));
}

std::vector<run::Info> runs(std::initializer_list<std::string> ids) {
  std::vector<run::Info> list;
  for (const std::string& id : ids) list.emplace_back().run_id = id;
  return list;
}

TEST(FindRunId, TakesAWholeIdAlsoWhenItBeginsAnother) {
  EXPECT_EQ(find_run_id("a", runs({"ab", "a", "abc"})), "a");
}

TEST(FindRunId, TakesABeginningThatIsOneRunsOnly) {
  EXPECT_EQ(find_run_id("ab", runs({"abc", "acd"})), "abc");
}

TEST(FindRunId, LeavesTheUnknownToGuardd) {
  EXPECT_EQ(find_run_id("x", runs({"abc"})), "x");
  EXPECT_EQ(find_run_id("", runs({"abc"})), "");
}

TEST(FindRunId, NamesAFewCandidates) {
  const auto found = find_run_id("a", runs({"a1", "a2", "a3", "a4", "a5", "a6"}));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("6 runs"));
  EXPECT_EQ(found.error().hint, "one of a1, a2, a3, a4, a5, ...");
}

TEST(ParseSignal, TakesNamesAndNumbers) {
  EXPECT_EQ(parse_signal("TERM"), SIGTERM);
  EXPECT_EQ(parse_signal("sigkill"), SIGKILL);
  EXPECT_EQ(parse_signal("Usr1"), SIGUSR1);
  EXPECT_EQ(parse_signal("64"), 64);
}

TEST(ParseSignal, RefusesAllElse) {
  for (const char* text : {"", "SIG", "0", "65", "-9", "9x", "TERMINATE", "99999999999999999999"}) {
    EXPECT_FALSE(parse_signal(text)) << text;
  }
}

}  // namespace
}  // namespace guard::client
