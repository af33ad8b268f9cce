// The sleeping second of a monitor.
//
// Only a process inside the run's outer domain can kill the run at one stroke, and a domain cannot
// be joined from outside: were the monitor to die (kill -9, out of memory), nobody could. So a
// warden sleeps beside it, in the same domain, with every signal blocked, and does nothing but wait
// for the monitor to be gone. The run can neither signal nor trace it. It exists only where the
// monitor's KillScope is proven.
#pragma once

#include <sys/types.h>

#include <csignal>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/supervise/tree_kill.h"

namespace guard::supervise {

struct Warden {
  pid_t pid = 0;     // a child of the caller, for waitpid(2) only with __WALL
  os::UniqueFd tie;  // SOCK_SEQPACKET; its end is the signal, so nobody else may hold a copy
};

// What the warden's parent gets at its end, in place of SIGCHLD: so wait(2) tells it from the run.
inline constexpr int kWardenEndSignal = SIGUSR2;

// Forks it. `lifeline` stays open in it for as long as it lives. The caller has blocked all
// signals.
Result<Warden> start_warden(const KillScope& scope, int lifeline);

// Ties `fd` to the warden's life too: copies of it are closed only when monitor and warden are
// gone, so its peer sees the end when the run has been killed and not before.
void tie_to_warden(const Warden& warden, int fd);

}  // namespace guard::supervise
