// How many tasks the kernel counts against RLIMIT_NPROC of this user already.
#pragma once

#include <cstdint>

namespace guard::sandbox {

// Threads of all processes of the real uid, by a walk of /proc: some milliseconds on a busy
// machine. 0 when /proc cannot be read.
std::uint64_t processes_of_user();

}  // namespace guard::sandbox
