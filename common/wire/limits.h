// Every size limit of the wire: what a request may hold before anything is done with it.
// Limits of one program (argv, environment) are run::kMaxArgBytes and its neighbours
// (common/run/spec.h).
#pragma once

#include <cstddef>

namespace guard::wire {

inline constexpr std::size_t kMaxMessageBytes = 4u << 20;  // gRPC's own default, both directions
inline constexpr std::size_t kMaxPaths = 4096;             // grants of one policy
inline constexpr std::size_t kMaxPathBytes = 4095;         // PATH_MAX without its NUL
inline constexpr std::size_t kMaxPorts = 4096;             // of one list
inline constexpr std::size_t kMaxEnvVars = 65'536;
inline constexpr std::size_t kMaxStdinBytes = 256u << 10;   // one RunInput.stdin
inline constexpr std::size_t kMaxOutputBytes = 256u << 10;  // one Output.data

}  // namespace guard::wire
