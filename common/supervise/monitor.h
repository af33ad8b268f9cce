// The supervisor of one run: its only reaper and its killer.
//
// A monitor is forked by the launcher ahead of need and waits for a Launch. It puts on its own
// Landlock domain (KillScope), forks a warden into it, then the program, and stays until every
// process of the run is dead: orphans are reparented to it (PR_SET_CHILD_SUBREAPER), so there is
// never a doubt whose they are. It reports on the run's control socket and obeys orders there; the
// end of that socket means that guardd is gone, and the run with it.
#pragma once

#include <sys/types.h>

#include "common/os/unique_fd.h"

namespace guard::supervise {

// What a monitor is given by its launcher. All are borrowed.
struct MonitorSeat {
  int socket = -1;         // the Launch comes here; stays open, so its end tells the launcher that
                           // monitor and warden are gone
  int scope_ruleset = -1;  // landlock::signal_scope_ruleset(), or -1: KillLayer::kSweep
  int cgroups = -1;        // the folder for the run's control group, or -1
  pid_t guardd = 0;        // living outsiders, for the proof of KillScope
  pid_t launcher = 0;
};

// The life of a monitor, in a process forked for it from one with a single thread. Exit status 0:
// the run is dead to the last process, or there was none; 1: otherwise.
[[noreturn]] void live_as_monitor(const MonitorSeat& seat);

}  // namespace guard::supervise
