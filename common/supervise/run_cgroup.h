// L1': a control group (v2) for each run, below one that was delegated to guardd. The kernel kills
// a whole group at one write to cgroup.kill (Linux 5.14), forks under way included. A confined
// program cannot leave it: it cannot write to the group file system.
//
// All groups of runs lie beside guardd's own leaf (daemon/leaf_cgroup.h), in its `home`, which
// holds no processes itself. Nothing here is an error: without a group another layer ends the run.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/os/unique_fd.h"

namespace guard::supervise {

class RunCgroup {
 public:
  RunCgroup() = default;  // none

  // Makes the group of the run whose monitor calls. None when there is no `home` (-1), when it may
  // not, or when the kernel cannot kill a group. `home` is borrowed for good.
  static RunCgroup make(int home);

  // To write "0" to, in the child: it is in the group then. -1: none.
  int door() const { return door_.get(); }
  // Proven once `leader`, which has written it, is seen in the group.
  void prove(pid_t leader);
  bool proven() const { return proven_; }

  void kill() const;
  // When nobody is left in it.
  void remove();

 private:
  int home_ = -1;
  std::string name_;
  os::UniqueFd door_;
  bool proven_ = false;
};

// For the launcher: what the monitor of that pid left. True when nothing is there any more.
bool end_cgroup_of(int home, pid_t monitor);

// For guardd at its start: kills and removes what an earlier one left, as well as that goes.
void end_stale_cgroups(int home);

}  // namespace guard::supervise
