// What the running kernel can enforce, as a value.
//
// Every kernel from 5.10 to the newest is a KernelSupport that a unit test can write down. probe()
// reads the running one. The environment variable GUARD_LANDLOCK_ABI_MAX (a number 0..99) lowers
// what probe() says, never raises it, and leaves `landlock_abi_kernel` as it is, so that the report
// can tell that it was lowered.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace guard::sandbox {

struct KernelSupport {
  // 0: none. landlock_create_ruleset(2) with LANDLOCK_CREATE_RULESET_VERSION.
  int landlock_abi = 0;
  int landlock_abi_kernel = 0;  // before it was lowered
  // True: the kernel has Landlock but it is off (EOPNOTSUPP: not in `lsm=` at boot). Tells the
  // person what to do; enforcement is the same as none.
  bool landlock_off_at_boot = false;
  std::uint32_t landlock_errata = 0;  // bit n-1: erratum n is fixed; ABI 7 and newer
  bool seccomp_filter = false;        // seccomp(2) SECCOMP_SET_MODE_FILTER, 3.17
  bool pidfd = false;                 // pidfd_open(2), 5.3
  bool close_range = false;           // close_range(2), 5.9
  std::string release;                // uname -r, for messages
  friend bool operator==(const KernelSupport&, const KernelSupport&) = default;
};

// The newest Landlock ABI this product knows; newer kernels are treated as this one.
inline constexpr int kNewestLandlockAbi = 11;

// kInvalid when GUARD_LANDLOCK_ABI_MAX is set and is not a number in its range.
Result<KernelSupport> probe();

}  // namespace guard::sandbox
