#include "common/base/duration_text.h"

#include <cstdint>

#include <fmt/format.h>

#include "common/base/number_text.h"
#include "common/base/visible.h"

namespace guard {
namespace {

using std::chrono::milliseconds;

constexpr const char* kHint = "write 500ms, 30s, 5m or 8h; a bare number is seconds";

std::optional<std::int64_t> milliseconds_of(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1'000;
  if (unit == "ms") return 1;
  if (unit == "m") return 60'000;
  if (unit == "h") return 3'600'000;
  return std::nullopt;
}

std::unexpected<Error> wrong(std::string_view text, std::string_view why, std::string hint) {
  return failure(Errc::kInvalid, fmt::format("'{}' {}", visible(text), why), std::move(hint));
}

}  // namespace

Result<milliseconds> parse_duration(std::string_view text) {
  if (text.empty()) return failure(Errc::kInvalid, "empty duration", kHint);
  if (text[0] == '-') return wrong(text, "is negative", "a duration is more than zero");
  const std::optional<DecimalText> number = leading_decimal(text);
  if (!number) return wrong(text, "is not a duration", kHint);
  const auto unit = milliseconds_of(number->rest);
  if (!unit) return wrong(text, "is not a duration", kHint);

  const auto longest = static_cast<std::uint64_t>(kLongestDuration.count());
  const ScaledNumber scaled = scale(*number, static_cast<std::uint64_t>(*unit), longest);
  switch (scaled.fit) {
    case Fit::kTooLarge:
      return wrong(text, "is too long",
                   fmt::format("the longest is {}; `none` is no limit where a limit is optional",
                               duration_text(kLongestDuration)));
    case Fit::kTooFine:
      return wrong(text, "is finer than a millisecond", kHint);
    case Fit::kExact:
      break;
  }
  if (scaled.value == 0) {
    return wrong(text, "is zero",
                 "a duration is more than zero; `none` is no limit where a limit is optional");
  }
  return milliseconds(static_cast<std::int64_t>(scaled.value));
}

Result<std::optional<milliseconds>> parse_duration_limit(std::string_view text) {
  if (text == "none") return std::optional<milliseconds>{};
  GUARD_ASSIGN(const milliseconds duration, parse_duration(text));
  return std::optional(duration);
}

std::string duration_text(milliseconds duration) {
  const std::int64_t count = duration.count();
  if (count == 0) return "0s";
  if (count % 3'600'000 == 0) return fmt::format("{}h", count / 3'600'000);
  if (count % 60'000 == 0) return fmt::format("{}m", count / 60'000);
  if (count % 1'000 == 0) return fmt::format("{}s", count / 1'000);
  if (count < 1'000) return fmt::format("{}ms", count);
  std::string fraction = fmt::format("{:03}", count % 1'000);
  while (fraction.back() == '0') fraction.pop_back();
  return fmt::format("{}.{}s", count / 1'000, fraction);
}

}  // namespace guard
