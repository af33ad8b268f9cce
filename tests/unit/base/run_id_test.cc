#include "common/base/run_id.h"

#include <set>

#include <gtest/gtest.h>

namespace guard {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

TEST(RunId, IsAUlidInLowerCase) {
  const system_clock::time_point now{milliseconds(1'469'918'176'385)};
  EXPECT_EQ(make_run_id(now, {}), "01aryz6s410000000000000000");
  EXPECT_EQ(make_run_id(now, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
            "01aryz6s41zzzzzzzzzzzzzzzz");
}

TEST(RunId, SortsByTimeAsText) {
  const system_clock::time_point now{milliseconds(1'800'000'000'000)};
  EXPECT_LT(make_run_id(now, {0xff}), make_run_id(now + milliseconds(1), {}));
}

TEST(RunId, IsNewEveryTime) {
  std::set<std::string> ids;
  for (int i = 0; i < 1'000; ++i) ids.insert(new_run_id());
  EXPECT_EQ(ids.size(), 1'000u);
}

}  // namespace
}  // namespace guard
