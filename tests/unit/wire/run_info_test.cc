#include "common/wire/run_info.h"

#include <gtest/gtest.h>

#include "common/wire/timestamp.h"

namespace guard::wire {
namespace {

using namespace std::chrono_literals;

TEST(RunInfo, ComesBackAsItWas) {
  run::Info info;
  info.run_id = "r1";
  info.state = run::State::kRunning;
  info.args = {"printf", "\xff\n"};
  info.args_truncated = true;
  info.started_at = TimePoint(1'700'000'000s + 5ms);
  info.pid = 42;
  EXPECT_EQ(info_from(to_proto(info)), info);
  info.state = run::State::kFinished;
  info.pid = 0;
  info.result.emplace().ending = run::Exited{3};
  info.finished_at = TimePoint(1'700'000'001s);
  EXPECT_EQ(info_from(to_proto(info)), info);
}

TEST(RunInfo, AStateOfANewerDaemonIsNoGuess) {
  v1::RunInfo message;
  message.set_state(static_cast<v1::RunState>(99));
  const auto info = info_from(message);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().what, "state: unknown value 99");
}

TEST(Timestamp, OfNoUseIsTheNearestThatIs) {
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(INT64_MAX);
  timestamp.set_nanos(INT32_MAX);
  EXPECT_GT(time_from(timestamp), TimePoint(4'000'000'000s));
  timestamp.set_seconds(INT64_MIN);
  timestamp.set_nanos(INT32_MIN);
  EXPECT_LT(time_from(timestamp), TimePoint(-4'000'000'000s));
  EXPECT_EQ(time_from(to_timestamp(TimePoint(-1ms))), TimePoint(-1ms));
}

}  // namespace
}  // namespace guard::wire
