#include "common/base/number_text.h"

#include <cstddef>

namespace guard {
namespace {

using Wide = unsigned __int128;

std::string_view digits_of(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
  return text.substr(0, n);
}

}  // namespace

std::optional<DecimalText> leading_decimal(std::string_view text) {
  DecimalText number;
  number.whole = digits_of(text);
  if (number.whole.empty()) return std::nullopt;
  text.remove_prefix(number.whole.size());
  if (!text.empty() && text[0] == '.') {
    number.fraction = digits_of(text.substr(1));
    if (number.fraction.empty()) return std::nullopt;
    text.remove_prefix(1 + number.fraction.size());
  }
  number.rest = text;
  return number;
}

ScaledNumber scale(const DecimalText& number, std::uint64_t factor, std::uint64_t maximum) {
  Wide whole = 0;
  for (const char c : number.whole) {
    whole = whole * 10 + static_cast<unsigned>(c - '0');
    if (whole > maximum) return {Fit::kTooLarge, 0};
  }
  whole *= factor;
  if (whole > maximum) return {Fit::kTooLarge, 0};

  // The fraction by long multiplication: remainder / 10^n of the factor, digit by digit.
  std::string_view fraction = number.fraction;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (fraction.size() > 18) return {Fit::kTooFine, 0};
  Wide numerator = 0;
  Wide denominator = 1;
  for (const char c : fraction) {
    numerator = numerator * 10 + static_cast<unsigned>(c - '0');
    denominator *= 10;
  }
  numerator *= factor;
  if (numerator % denominator != 0) return {Fit::kTooFine, 0};
  whole += numerator / denominator;
  if (whole > maximum) return {Fit::kTooLarge, 0};
  return {Fit::kExact, static_cast<std::uint64_t>(whole)};
}

}  // namespace guard
