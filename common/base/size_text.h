// Sizes as people write them: 64KiB, 512MiB, 2GiB, 1.5GiB; a bare number is bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace guard {

// 8 EiB - 1: what an rlim_t and a signed file offset both hold.
inline constexpr std::uint64_t kLargestSize = (std::uint64_t{1} << 63) - 1;

// 1 to kLargestSize bytes. Units B, KiB, MiB, GiB, TiB, as written. kInvalid for anything else,
// zero and negative included; KB and K are refused with the unit that is meant: they mean 1000 to
// some.
Result<std::uint64_t> parse_size(std::string_view text);

// The same, or "none" for no limit (nullopt).
Result<std::optional<std::uint64_t>> parse_size_limit(std::string_view text);

// Parses back to the same: the largest unit that needs no fraction. "64KiB", "1000" is "1000B".
std::string size_text(std::uint64_t bytes);

}  // namespace guard
