// How the tree of a run will be ended, as its report says it once its monitor has told.
#pragma once

#include "common/sandbox/report.h"
#include "common/supervise/launch_protocol.h"

namespace guard::daemon {

// Before a run, compile() can only say what the kernel should give. Here is what was proven for
// this one. A report of a run that is not confined stays as it is.
void tell_tree_kill(supervise::KillLayer proven, sandbox::Report& report);

}  // namespace guard::daemon
