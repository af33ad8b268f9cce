#include "common/base/size_text.h"

#include <array>

#include <fmt/format.h>

#include "common/base/number_text.h"
#include "common/base/visible.h"

namespace guard {
namespace {

constexpr const char* kHint = "write 64KiB, 512MiB or 2GiB; a bare number is bytes";

struct Unit {
  const char* name;
  int shift;
};
constexpr std::array kUnits{Unit{"TiB", 40}, Unit{"GiB", 30}, Unit{"MiB", 20}, Unit{"KiB", 10},
                            Unit{"B", 0}};

std::optional<std::uint64_t> bytes_of(std::string_view unit) {
  if (unit.empty()) return 1;
  for (const Unit& known : kUnits) {
    if (unit == known.name) return std::uint64_t{1} << known.shift;
  }
  return std::nullopt;
}

// "64k", "64KB", "64kib": what was meant, most likely.
std::string hint_for(const DecimalText& number) {
  if (number.rest.empty()) return kHint;
  const char letter = static_cast<char>(number.rest[0] & ~0x20);  // upper case
  for (const Unit& known : kUnits) {
    if (known.shift > 0 && known.name[0] == letter && number.rest.size() <= 3) {
      const std::string point = number.fraction.empty() ? "" : ".";
      return fmt::format("write {}{}{}{}", number.whole, point, number.fraction, known.name);
    }
  }
  return kHint;
}

std::unexpected<Error> wrong(std::string_view text, std::string_view why, std::string hint) {
  return failure(Errc::kInvalid, fmt::format("'{}' {}", visible(text), why), std::move(hint));
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  if (text.empty()) return failure(Errc::kInvalid, "empty size", kHint);
  if (text[0] == '-') return wrong(text, "is negative", "a size is more than zero");
  const std::optional<DecimalText> number = leading_decimal(text);
  if (!number) return wrong(text, "is not a size", kHint);
  const auto unit = bytes_of(number->rest);
  if (!unit) return wrong(text, "is not a size", hint_for(*number));

  const ScaledNumber scaled = scale(*number, *unit, kLargestSize);
  switch (scaled.fit) {
    case Fit::kTooLarge:
      return wrong(text, "is too large", "`none` is no limit");
    case Fit::kTooFine:
      return wrong(text, "is not a whole number of bytes", kHint);
    case Fit::kExact:
      break;
  }
  if (scaled.value == 0)
    return wrong(text, "is zero", "a size is more than zero; `none` is no limit");
  return scaled.value;
}

Result<std::optional<std::uint64_t>> parse_size_limit(std::string_view text) {
  if (text == "none") return std::optional<std::uint64_t>{};
  GUARD_ASSIGN(const std::uint64_t bytes, parse_size(text));
  return std::optional(bytes);
}

std::string size_text(std::uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    const std::uint64_t factor = std::uint64_t{1} << unit.shift;
    if (bytes != 0 && bytes % factor == 0) return fmt::format("{}{}", bytes / factor, unit.name);
  }
  return fmt::format("{}B", bytes);
}

}  // namespace guard
