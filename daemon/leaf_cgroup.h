// A control group of our own below the one that a service manager delegated to us.
#pragma once

namespace guard::daemon {

// Moves this process, which has no children yet, into the leaf "guardd" of its control group, if
// that one is marked as delegated (systemd's Delegate=yes: the extended attribute user.delegate,
// cgroup v2). Groups for others can be made beside it then: a group that holds processes gives no
// controllers to those below it (cgroups(7), "no internal processes"). False: it stays where it is,
// which takes nothing from what is enforced.
bool enter_leaf_cgroup();

}  // namespace guard::daemon
