// CLOCK_MONOTONIC: for deadlines and durations. Stands still while the machine sleeps.
#pragma once

#include <chrono>

namespace guard::os {

using Instant = std::chrono::steady_clock::time_point;
inline Instant now() { return std::chrono::steady_clock::now(); }

// What poll(2) takes: milliseconds from now to `deadline`, rounded up so that a wait never ends
// before it; 0 when it has passed; at most a day.
int poll_timeout(Instant deadline);

}  // namespace guard::os
