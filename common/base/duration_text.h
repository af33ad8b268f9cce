// Durations as people write them: 500ms, 30s, 5m, 8h, 1.5s; a bare number is seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace guard {

// Ten years: within what any clock of ours can add up.
inline constexpr std::chrono::milliseconds kLongestDuration = std::chrono::hours(87'600);

// 1 ms to kLongestDuration, to the millisecond. kInvalid for anything else, zero and negative
// included; `what` quotes the text, so the caller need only add the flag's name.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The same, or "none" for no limit (nullopt).
Result<std::optional<std::chrono::milliseconds>> parse_duration_limit(std::string_view text);

// Parses back to the same. Milliseconds below a second, else the largest unit that needs no
// fraction, else seconds with one: "250ms", "90s", "5m", "1.5s". Zero is "0s".
std::string duration_text(std::chrono::milliseconds duration);

}  // namespace guard
