#include "common/base/duration_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(ParseDuration, ReadsEveryUnitAndABareNumberAsSeconds) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("30s"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("5m"), milliseconds(300'000));
  EXPECT_EQ(parse_duration("8h"), milliseconds(28'800'000));
  EXPECT_EQ(parse_duration("30"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("0.25"), milliseconds(250));
}

TEST(ParseDuration, ReadsFractionsExactly) {
  EXPECT_EQ(parse_duration("0.1s"), milliseconds(100));
  EXPECT_EQ(parse_duration("1.5h"), milliseconds(5'400'000));
  EXPECT_EQ(parse_duration("0.001s"), milliseconds(1));
  EXPECT_EQ(parse_duration("1.500000s"), milliseconds(1'500));
}

TEST(ParseDuration, RefusesZeroNegativeAndEmptyWithAHint) {
  for (const char* text : {"0", "0s", "0.0ms", "-1", "-0", "-5m", ""}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code, Errc::kInvalid) << text;
    EXPECT_NE(duration.error().hint, "") << text;
  }
  EXPECT_EQ(parse_duration("-1").error().what, "'-1' is negative");
  EXPECT_EQ(parse_duration("0s").error().what, "'0s' is zero");
}

TEST(ParseDuration, RefusesWhatIsNotADuration) {
  for (const char* text : {"s", "5 s", " 5s", "5s ", "5S", "5d", "5min", "+5", "1e3", "0x10", "5s5",
                           "1.s", ".5s", "1..5", "none", "inf", "nan", "٣s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(ParseDuration, RefusesWhatNoClockHoldsInsteadOfWrappingAround) {
  EXPECT_EQ(parse_duration("87600h"), kLongestDuration);
  for (const char* text : {"87601h", "9223372036854775807h", "18446744073709551616ms",
                           "99999999999999999999999999999999999999999999s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_THAT(duration.error().what, HasSubstr("is too long"));
    EXPECT_THAT(duration.error().hint, HasSubstr("87600h"));
  }
}

TEST(ParseDuration, RefusesWhatIsFinerThanAMillisecond) {
  for (const char* text : {"0.5ms", "0.0001s", "1.00000000000000000001s"}) {
    EXPECT_THAT(parse_duration(text).error().what, HasSubstr("finer than a millisecond")) << text;
  }
}

TEST(ParseDuration, QuotesHostileTextSafely) {
  EXPECT_EQ(parse_duration("5\x1b[2J").error().what, "'5\\e[2J' is not a duration");
}

TEST(ParseDurationLimit, KnowsNone) {
  EXPECT_EQ(parse_duration_limit("none").value(), std::nullopt);
  EXPECT_EQ(parse_duration_limit("2s").value(), milliseconds(2'000));
  EXPECT_FALSE(parse_duration_limit("None"));
}

TEST(DurationText, ParsesBackToTheSame) {
  for (const long long count : {1LL, 999LL, 1'000LL, 1'500LL, 1'050LL, 60'000LL, 61'000LL, 90'001LL,
                                3'600'000LL, 5'400'000LL, 315'360'000'000LL}) {
    const milliseconds duration(count);
    EXPECT_EQ(parse_duration(duration_text(duration)), duration) << duration_text(duration);
  }
  EXPECT_EQ(duration_text(milliseconds(250)), "250ms");
  EXPECT_EQ(duration_text(milliseconds(90'000)), "90s");
  EXPECT_EQ(duration_text(milliseconds(1'050)), "1.05s");
  EXPECT_EQ(duration_text(hours(8)), "8h");
  EXPECT_EQ(duration_text(milliseconds(0)), "0s");
}

}  // namespace
}  // namespace guard
