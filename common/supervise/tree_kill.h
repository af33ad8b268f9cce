// The end of a run: every process of it, whatever it did to its session, group or parent.
//
// The ways, strongest first (KillLayer in launch_protocol.h):
//  L1  KillScope. A process that sits in a Landlock domain which scopes signals (ABI 6) can signal
//      nobody outside it, so its kill(-1) reaches exactly the domain: the run, which lives in
//      domains inside. The kernel walks the whole task list under the lock that fork(2) needs, and
//      a fork whose parent has SIGKILL pending fails: nothing slips through.
//  L2  GroupGate (group_gate.h) beside the sweep: who forks on and on cannot leave his group.
//  L3  sweep(). Walks /proc for descendants of this subreaper and signals each through a pidfd.
//      A program that forks faster than the walk is found late; callers bound it by time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <vector>

#include "common/os/proc_stat.h"

namespace guard::supervise {

// A proof that this process's kill(-1) stays inside its own domain. Without one, kill(-1) would
// reach everything that the user runs, so that call exists here only, behind the proof.
//
// The proof does not age: a domain never comes off. It is passed on by fork(2), as the domain is.
class KillScope {
 public:
  KillScope() = default;  // proves nothing

  // Restricts this process, for good, with `ruleset` (landlock::signal_scope_ruleset()), which sets
  // PR_SET_NO_NEW_PRIVS too. Proven when each of `outsiders`, live processes of ours, could be
  // signalled before and cannot be after (EPERM). A pid that is gone proves nothing (ESRCH).
  static KillScope enter(int ruleset, std::span<const pid_t> outsiders);

  bool proven() const { return proven_; }

  // Signals every process of the domain but the caller. A broken promise when not proven.
  void signal_all(int signal) const;

 private:
  bool proven_ = false;
};

// The processes of `all` that descend from `root`, nearest first; neither `root` nor anything at or
// below a pid of `spared`.
std::vector<os::ProcStat> descendants(pid_t root, std::span<const os::ProcStat> all,
                                      std::span<const pid_t> spared);

// Signals every living descendant of this process but the spared; returns how many it found. The
// number of a process is never trusted: each is pinned by a pidfd and looked at again first.
std::size_t sweep(int signal, std::span<const pid_t> spared);

}  // namespace guard::supervise
