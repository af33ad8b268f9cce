// Policy + kernel → Plan + Report. Pure: reads no file, makes no system call.
#pragma once

#include "common/base/result.h"
#include "common/sandbox/grants.h"
#include "common/sandbox/kernel_support.h"
#include "common/sandbox/plan.h"
#include "common/sandbox/report.h"

namespace guard::sandbox {

// Who carries the plan out; decides whether Protection::kTreeKill can be claimed.
enum class Supervision : std::uint8_t {
  kNone,      // the one-shot: nobody is left when the program runs
  kTreeKill,  // a monitor kills the tree
};

struct Compiled {
  Plan plan;
  Report report;
};

// kUnsupported when the policy's level cannot be met on this kernel; `what` names each protection
// that lacks, `hint` the kernel version that has it or the flag that accepts less.
Result<Compiled> compile(const ResolvedPolicy& policy, const KernelSupport& kernel,
                         Supervision supervision);

}  // namespace guard::sandbox
