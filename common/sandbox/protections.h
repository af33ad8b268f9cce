// Each protection of a report: enforced, weakened or missing on a kernel, and why. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/sandbox/compile.h"

namespace guard::sandbox {

// Every Protection once, in enum order.
std::vector<ProtectionLine> protections_of(const Policy& policy, const KernelSupport& kernel,
                                           Supervision supervision);

// What stays open under the plan, one clause each.
std::vector<std::string> ungoverned_by(const Policy& policy, const KernelSupport& kernel,
                                       Supervision supervision);

// "Linux 6.7 (Landlock ABI 4)", for messages.
std::string kernel_with_abi(int abi);

}  // namespace guard::sandbox
