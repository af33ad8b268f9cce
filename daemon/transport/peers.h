// Who may call guardd: a living process of our own user that is not of a run.
//
// A run is of our user too, and SO_PEERCRED cannot tell the two apart. Ancestry can: whatever a
// run's processes do, their parents lead to the run's monitor, which adopts every orphan of it
// (PR_SET_CHILD_SUBREAPER), and from there to the launcher and guardd. No caller has these among
// its ancestors.
//
// The walk over /proc/PID/stat is safe against processes that end and numbers that are given out
// again: each process is pinned (os::PinnedStat), and a step counts only if the child had the same
// parent before the parent was pinned and afterwards. In between it cannot have had another: an
// orphan goes to an ancestor, which is older than it, never to a newer process of that number.
#pragma once

#include <sys/types.h>

#include <memory>

#include "common/base/result.h"
#include "common/os/peer.h"
#include "common/os/proc_stat.h"

namespace guard::daemon {

// The processes of the machine, as the walk sees them. A test makes up its own.
class ProcessTable {
 public:
  class Process {
   public:
    virtual ~Process() = default;
    // kNotFound once it has been reaped.
    virtual Result<os::ProcStat> read() const = 0;
  };
  virtual ~ProcessTable() = default;

  // Null: there is none, or it is hidden from us.
  virtual std::unique_ptr<Process> pin(pid_t pid) const = 0;
  // It lives and is not ours to signal. No process of a run can become one: NO_NEW_PRIVS.
  virtual bool is_of_another_user(pid_t pid) const = 0;
};

// /proc.
class LiveProcessTable final : public ProcessTable {
 public:
  std::unique_ptr<Process> pin(pid_t pid) const override;
  bool is_of_another_user(pid_t pid) const override;
};

struct CallerRule {
  uid_t uid = 0;     // the only one that may call, root included
  pid_t guardd = 0;  // this process: its descendants are runs
};

// kDenied with the reason for the log: another uid, a process in a pid namespace that is not below
// ours, one that has ended, one of a run (of another guardd of the user too), or one whose
// ancestors cannot be read.
//
// Without peer.pidfd_supported (Linux before 6.5) the process that has the number now may not be
// the one that connected. That takes a cookie (cookie.h) besides.
Result<> check_caller(const os::Peer& peer, const CallerRule& rule, const ProcessTable& processes);

}  // namespace guard::daemon
