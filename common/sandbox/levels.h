// Whether what a kernel enforces is enough for the level that was asked for. Pure.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/sandbox/kernel_support.h"
#include "common/sandbox/report.h"

namespace guard::sandbox {

// kUnsupported names every protection that lacks and why; the hint is what to do.
//
//   kDefault        the core in full: no_new_privs, file_access, network, unix_sockets,
//                   syscall_filter, descriptors
//   kStrict         every protection in full
//   kBestEffort     no_new_privs, file_access, syscall_filter
//   kUnsafeNoGuard  nothing
Result<> sufficient(Level level, const std::vector<ProtectionLine>& protections,
                    const KernelSupport& kernel);

}  // namespace guard::sandbox
