// Names of runs: unique without asking anybody, and in order of time when sorted as text.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace guard {

// 26 characters of 0-9a-z without i, l, o, u: 48 bits of milliseconds since 1970, then 80 bits of
// chance (the layout of a ULID, in lower case). A valid run_id and a valid file name.
std::string make_run_id(std::chrono::system_clock::time_point now,
                        const std::array<std::uint8_t, 10>& chance);

// For now, with getrandom(2).
std::string new_run_id();

}  // namespace guard
