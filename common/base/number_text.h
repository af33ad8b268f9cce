// The digits in front of a unit: shared by durations and sizes. Integers only, no rounding: "0.1s"
// is exactly 100 ms.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace guard {

struct DecimalText {
  std::string_view whole;     // at least one digit
  std::string_view fraction;  // after the point; empty when there is none
  std::string_view rest;      // what follows: the unit
};

// "1.5MiB" → {"1", "5", "MiB"}. Nothing when `text` does not start with a digit or has a point
// without digits on both sides. No sign, no blanks, no exponent.
std::optional<DecimalText> leading_decimal(std::string_view text);

enum class Fit {
  kExact,
  kTooLarge,  // above the maximum
  kTooFine,   // not a whole number after scaling
};

struct ScaledNumber {
  Fit fit = Fit::kExact;
  std::uint64_t value = 0;  // when it fits
};

// number × factor, exactly; maximum is inclusive.
ScaledNumber scale(const DecimalText& number, std::uint64_t factor, std::uint64_t maximum);

}  // namespace guard
