#include "common/supervise/monitor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>

#include "common/os/descriptors.h"
#include "common/supervise/launch_protocol.h"
#include "common/supervise/supervision.h"
#include "common/supervise/tree_kill.h"
#include "common/supervise/warden.h"

namespace guard::supervise {
namespace {

// Its own session, so that no terminal and no kill of a group reaches it; every signal blocked, so
// that it ends by its own decision or by SIGKILL; subreaper of what it will start.
bool stand_apart(const MonitorSeat& seat) {
  ::prctl(PR_SET_NAME, "guard-monitor");
  (void)::setsid();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // Nothing of the launcher's: neither its other monitors' sockets nor its standard error.
  return os::close_all_but({0, seat.socket, seat.scope_ruleset, seat.cgroups}).has_value() &&
         ::dup2(0, 1) == 1 && ::dup2(0, 2) == 2 && ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

}  // namespace

void live_as_monitor(const MonitorSeat& seat) {
  if (!stand_apart(seat)) ::_exit(1);
  const std::array outsiders{seat.guardd, seat.launcher};
  const KillScope scope = KillScope::enter(seat.scope_ruleset, outsiders);
  Warden warden;
  if (scope.proven()) {
    if (auto started = start_warden(scope, seat.socket)) warden = *std::move(started);
  }
  auto launch = receive_launch(seat.socket);
  if (!launch) ::_exit(1);   // its control socket is closed with it: guardd sees that
  if (!*launch) ::_exit(0);  // the launcher is gone; the warden follows
  Supervision supervision(scope, std::move(warden), seat.scope_ruleset, seat.cgroups);
  ::_exit(supervision.run(**std::move(launch)) ? 0 : 1);
}

}  // namespace guard::supervise
