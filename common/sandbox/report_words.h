// The report's enumerators and ports in words, the same in text, JSON and the skill gate.
#pragma once

#include <string>
#include <string_view>

#include "common/sandbox/report.h"

namespace guard::sandbox {

std::string_view name_of(Level level);    // "default", "strict", "best_effort", "unsafe_no_guard"
std::string_view name_of(Status status);  // "enforced", "weakened", "missing", "not_asked"
std::string_view name_of(Access access);  // "read", "write"
std::string_view name_of(Origin origin);  // "asked", "cwd", "base", "private"

// "connect blocked, bind blocked", "connect 443 (any host), bind 8080".
std::string network_words(const Report& report);

// "device_ioctl (why), signals (why)": what is weakened or missing; empty when nothing is.
std::string weakened_words(const Report& report);

}  // namespace guard::sandbox
