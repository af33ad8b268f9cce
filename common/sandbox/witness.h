// The sandbox is tried before anything runs in it: one forbidden thing of each kind must fail.
//
// Products have shipped sandboxes that did nothing: a call that was skipped, an error that was
// swallowed, a kernel that answered "yes" and did not mean it. The witness sees the effect, not the
// return value of what was to bring it about.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/sandbox/enforce.h"

namespace guard::sandbox {

// Sent as a number between processes: values are never reused.
enum class WitnessAxis : std::uint8_t {
  kNone = 0,
  kNoNewPrivs = 1,    // PR_GET_NO_NEW_PRIVS must say 1
  kFileAccess = 2,    // the canary must not open: EACCES
  kSocket = 3,        // socket(AF_NETLINK) must fail
  kSyscall = 4,       // unshare(0), which does nothing, must fail
  kCapabilities = 5,  // no effective or permitted capability is left
};
// "file access", for messages; "none" for a number that is no axis.
std::string_view name_of(WitnessAxis axis);

// The first axis that let something through, or kNone. Raw system calls only (enforce.h).
WitnessAxis witness(const Orders& orders) noexcept;

}  // namespace guard::sandbox
