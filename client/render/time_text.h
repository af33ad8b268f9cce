// Points in time and spans of it, as lists show them.
#pragma once

#include <chrono>
#include <string>

#include "common/run/info.h"

namespace guard::client {

// RFC 3339 in UTC, to the millisecond: "2026-01-31T23:59:59.250Z".
std::string time_text(run::WallTime at);

// About: "250ms", "12s", "3m05s", "2h10m", "3d04h". A negative one, of a clock that was set back,
// is "0ms".
std::string elapsed_text(std::chrono::nanoseconds span);

}  // namespace guard::client
