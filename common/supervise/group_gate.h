// L2, where the kernel cannot scope signals: no new process groups at the end of a run.
//
// kill(-group) is atomic: the kernel walks the group under the lock that fork(2) needs, so nobody
// in it forks away. What escapes it is whoever makes a group of his own. So a filter of the run
// asks the monitor at every setsid(2) and setpgid(2) (SECCOMP_RET_USER_NOTIF, Linux 5.5), and it
// says "go on": it gates, it judges nothing, so that what lies in the program's memory does not
// matter. When the run has to end it says nothing any more. The groups are then those that there
// are, each dies for good at its one kill, and kill_group_of() finds them all.
//
// fork(2) itself is not gated: a signal whose handler was installed without SA_RESTART interrupts a
// call that waits for its answer, and no program expects EINTR from fork. A shell that minds its
// background jobs gets such signals all the time.
//
// Kernel facts (seccomp_unotify(2), kernel/seccomp.c):
//  - When the listener's last copy is closed, waiting and later calls fail with ENOSYS. So without
//    a monitor (kill -9) the gate is shut, and whoever inherits the run can end it as surely.
//  - One listener for a chain of filters: inside a supervised sandbox a second one is EBUSY.
//  - The result of other filters wins: ours asks only for what they let through.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/sandbox/seccomp/arch.h"
#include "common/sandbox/seccomp/program.h"

namespace guard::supervise {

// Asks for setsid and setpgid by every door of the architecture, 32-bit ones too; allows the rest.
Result<seccomp::Program> group_gate_filter(seccomp::Arch arch);

// In the child that will be the program; raw system calls only. Sets PR_SET_NO_NEW_PRIVS, loads the
// filter. The listener, or a negative errno: no filter was loaded.
long load_group_gate(const sock_fprog& filter) noexcept;

// The monitor's side.
class GroupGate {
 public:
  // From the child, which then makes a gated call: that one proves that the gate works.
  void take(os::UniqueFd listener) { listener_ = std::move(listener); }

  // Readable when somebody waits; -1 when there is no gate, or nobody left behind it.
  int listener() const { return listener_.get(); }
  bool proven() const { return proven_; }

  // After poll(2) has said `events` of the listener. Lets through who waits; never blocks: nobody
  // else receives, so what poll saw is there, or is gone, which the kernel answers with ENOENT.
  void answer(short events);

 private:
  os::UniqueFd listener_;
  bool proven_ = false;
};

// Kills the process group of `child`: one of ours, dead or alive and not yet reaped, for as long as
// which the number of its group is nobody else's. Never our own group.
//
// Why to do so before each child is reaped ends a gated run: whoever lives on descends from a child
// of ours. One that stands still is found by sweep(). One that forks on and on must leave its dead
// to us, and they have its group, which it cannot leave.
void kill_group_of(pid_t child);

}  // namespace guard::supervise
