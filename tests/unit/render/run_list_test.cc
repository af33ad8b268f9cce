#include "client/render/run_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/render/time_text.h"

namespace guard::client {
namespace {

using namespace std::chrono_literals;

const run::WallTime kNow{1'700'000'000s};

run::Info running() {
  run::Info info;
  info.run_id = "r1";
  info.state = run::State::kRunning;
  info.args = {"sh", "-c", "echo a\nb"};
  info.pid = 42;
  info.started_at = kNow - 3min - 5s;
  return info;
}

run::Info finished(run::Reason reason) {
  run::Info info;
  info.run_id = "run-2";
  info.state = run::State::kFinished;
  info.args = {"true"};
  info.args_truncated = true;
  info.started_at = kNow - 1h;
  info.finished_at = kNow - 59min;
  info.result.emplace().ending = run::Exited{137};
  info.result->reason = reason;
  info.result->usage.wall = 1500us;
  return info;
}

TEST(RunTable, IsAlignedAndOneLineARun) {
  const std::vector<run::Info> runs{running(), finished(run::Reason::kExited)};
  EXPECT_EQ(run_table(runs, kNow),
            "RUN ID  STATE     PID  TIME   COMMAND\n"
            "r1      running   42   3m05s  sh -c $'echo a\\nb'\n"
            "run-2   exit 137  -    1ms    true ...\n");
}

TEST(RunTable, OfNothingIsItsHeading) {
  EXPECT_EQ(run_table({}, kNow), "RUN ID  STATE  PID  TIME  COMMAND\n");
}

TEST(RunTable, TellsWhatEndedARunThatDidNotEndItself) {
  const std::vector<run::Info> runs{finished(run::Reason::kOutputLimit)};
  EXPECT_THAT(run_table(runs, kNow), testing::HasSubstr("output limit"));
}

TEST(InfoJson, HasEveryKeyAlsoWithoutAValue) {
  EXPECT_EQ(info_json(run::Info{}),
            R"({"run_id":"","state":"starting","args":[],"args_truncated":false,"pid":null,)"
            R"("started_at":null,"finished_at":null,"result":null})");
}

TEST(InfoJson, TellsTheResultAsRunDoes) {
  const std::string line = info_json(finished(run::Reason::kExited));
  EXPECT_THAT(line, testing::HasSubstr(R"("finished_at":"2023-11-14T21:14:20.000Z")"));
  EXPECT_THAT(line, testing::HasSubstr(R"("result":{"reason":"EXITED","exit_code":137,)"));
}

TEST(TimeText, IsUtcToTheMillisecond) {
  EXPECT_EQ(time_text(run::WallTime(0s)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(time_text(run::WallTime(1'772'323'199s + 999'999us)), "2026-02-28T23:59:59.999Z");
  EXPECT_EQ(time_text(run::WallTime(-1ms)), "1969-12-31T23:59:59.999Z");
}

TEST(ElapsedText, HasTwoUnitsAtMost) {
  EXPECT_EQ(elapsed_text(-5s), "0ms");
  EXPECT_EQ(elapsed_text(999ms), "999ms");
  EXPECT_EQ(elapsed_text(59'999ms), "59s");
  EXPECT_EQ(elapsed_text(60s), "1m00s");
  EXPECT_EQ(elapsed_text(2h + 9min + 59s), "2h09m");
  EXPECT_EQ(elapsed_text(76h), "3d04h");
}

}  // namespace
}  // namespace guard::client
