// A control group of our own below the one that a service manager delegated to us.
#pragma once

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::daemon {

// Moves this process, which has no children yet, into the leaf "guardd" of its control group (v2).
// Groups for others can be made beside it then: a group that holds processes gives no controllers
// to those below it (cgroups(7), "no internal processes"). Only for a group that is delegated, as
// by systemd's Delegate=yes: any other belongs to whoever made it. An error takes nothing from what
// is enforced. Returns the folder of the
// group itself, where groups of runs can be made.
Result<os::UniqueFd> enter_leaf_cgroup();

}  // namespace guard::daemon
