#include "common/base/size_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard {
namespace {

TEST(ParseSize, ReadsBinaryUnitsAndABareNumberAsBytes) {
  EXPECT_EQ(parse_size("1"), 1u);
  EXPECT_EQ(parse_size("100B"), 100u);
  EXPECT_EQ(parse_size("64KiB"), 65'536u);
  EXPECT_EQ(parse_size("512MiB"), 536'870'912u);
  EXPECT_EQ(parse_size("1.5GiB"), 1'610'612'736u);
  EXPECT_EQ(parse_size("2TiB"), std::uint64_t{2} << 40);
}

TEST(ParseSize, RefusesAmbiguousUnitsAndSaysWhatIsMeant) {
  EXPECT_EQ(parse_size("64KB").error().hint, "write 64KiB");
  EXPECT_EQ(parse_size("1.5g").error().hint, "write 1.5GiB");
  EXPECT_EQ(parse_size("64mib").error().hint, "write 64MiB");
  EXPECT_EQ(parse_size("64K").error().what, "'64K' is not a size");
}

TEST(ParseSize, RefusesZeroNegativeEmptyAndGarbage) {
  for (const char* text : {"0", "0KiB", "-1", "", "KiB", "1 KiB", "1e6", "0x10", "1.5B", "none"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().code, Errc::kInvalid) << text;
    EXPECT_NE(size.error().hint, "") << text;
  }
}

TEST(ParseSize, RefusesOverflowInsteadOfWrappingAround) {
  EXPECT_EQ(parse_size("9223372036854775807"), kLargestSize);
  for (const char* text :
       {"9223372036854775808", "8388608TiB", "18446744073709551616", "17179869184GiB"}) {
    EXPECT_THAT(parse_size(text).error().what, testing::HasSubstr("is too large")) << text;
  }
}

TEST(ParseSizeLimit, KnowsNone) {
  EXPECT_EQ(parse_size_limit("none").value(), std::nullopt);
  EXPECT_EQ(parse_size_limit("1KiB").value(), 1024u);
}

TEST(SizeText, ParsesBackToTheSame) {
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1024},
                                    std::uint64_t{1536}, std::uint64_t{1} << 40, kLargestSize}) {
    EXPECT_EQ(parse_size(size_text(bytes)), bytes) << size_text(bytes);
  }
  EXPECT_EQ(size_text(65'536), "64KiB");
  EXPECT_EQ(size_text(1'000), "1000B");
  EXPECT_EQ(size_text(0), "0B");
}

}  // namespace
}  // namespace guard
