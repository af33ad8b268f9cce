#include "daemon/transport/refusals.h"

#include <gmock/gmock.h>

namespace guard::daemon {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

TEST(Refusals, SayWhoAndWhy) {
  Refusals refusals;
  EXPECT_EQ(refusals.note(7, "it is of uid 0", Refusals::Clock::now()),
            "a connection of pid 7 was refused: it is of uid 0");
}

TEST(Refusals, AFloodIsCountedAndToldLater) {
  Refusals refusals;
  const auto start = Refusals::Clock::now();
  int lines = 0;
  for (int i = 0; i < 1000; ++i) lines += refusals.note(7, "no", start + 1ms * i) ? 1 : 0;
  EXPECT_EQ(lines, 10);
  EXPECT_THAT(refusals.note(7, "no", start + 61s), Optional(HasSubstr("(and 990 before it)")));
  EXPECT_THAT(refusals.note(7, "no", start + 61s), Optional(Not(HasSubstr("before it"))));
}

}  // namespace
}  // namespace guard::daemon
