#include "daemon/config.h"

#include <initializer_list>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace guard::daemon {
namespace {

using ::testing::HasSubstr;

std::variant<Config, Farewell> parse(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv{"guardd"};
  argv.insert(argv.end(), arguments);
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

TEST(CommandLine, StaysAndSaysLittleByDefault) { EXPECT_EQ(std::get<Config>(parse({})), Config()); }

TEST(CommandLine, ReadsTheIdleExit) {
  EXPECT_EQ(std::get<Config>(parse({"--idle-exit", "5m"})).idle_exit, std::chrono::minutes(5));
  EXPECT_EQ(std::get<Config>(parse({"--idle-exit=none"})).idle_exit, std::nullopt);
}

TEST(CommandLine, LeavesItsControlGroupOnlyWhenAsked) {
  EXPECT_TRUE(std::get<Config>(parse({"--leaf-cgroup"})).leaf_cgroup);
}

TEST(CommandLine, WrongUsageIsTwoAndNamesTheFlag) {
  for (const auto& arguments : {std::initializer_list<const char*>{"--idle-exit", "0"},
                                {"--ready-fd", "1"},
                                {"--ready-fd", "9999"},
                                {"--log-level", "loud"},
                                {"--bogus"},
                                {"extra"}}) {
    const auto farewell = std::get<Farewell>(parse(arguments));
    EXPECT_EQ(farewell.exit_code, 2);
    EXPECT_THAT(farewell.text, HasSubstr(*arguments.begin()));
  }
}

TEST(CommandLine, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(std::get<Farewell>(parse({"--help"})).exit_code, 0);
  EXPECT_THAT(std::get<Farewell>(parse({"--version"})).text, HasSubstr("guardd "));
}

}  // namespace
}  // namespace guard::daemon
