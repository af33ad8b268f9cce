// The process that forks: a pool of ready monitors, handed one Launch each.
//
// guardd is large and has many threads, so it never forks; this is small and has one. It reads no
// block, makes no policy, holds no state of a run. When it dies, idle monitors go with it, runs go
// on in theirs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/os/clock.h"
#include "common/os/unique_fd.h"
#include "common/supervise/launch_protocol.h"

namespace guard::launcher {

// Ready before they are asked for: forking one on demand adds 0.2 ms to a start.
inline constexpr std::size_t kIdleMonitors = 4;

class Launcher {
 public:
  // `control`: Launches from guardd, whose pid the socket tells; its end is the end of us.
  // `scope_ruleset`: -1 where the kernel has none. `cgroups`: where runs get control groups, or -1.
  static Result<Launcher> create(os::UniqueFd control, os::UniqueFd scope_ruleset,
                                 os::UniqueFd cgroups);

  // Returns when guardd is gone and the idle monitors after it. Monitors with a run end it by
  // themselves: they see the end of its control socket.
  Result<> serve();

 private:
  struct Monitor {
    pid_t pid = 0;
    os::UniqueFd socket;  // its end: monitor and warden are gone
    bool idle = true;
    bool left_orphans = false;  // it was killed, or could not end its run
    pid_t pid_was = 0;
    os::Instant ended_at{};
  };

  Launcher(os::UniqueFd control, os::UniqueFd ruleset, os::UniqueFd cgroups, os::UniqueFd signals,
           pid_t guardd)
      : control_(std::move(control)),
        scope_ruleset_(std::move(ruleset)),
        cgroups_(std::move(cgroups)),
        child_signals_(std::move(signals)),
        guardd_(guardd) {}

  Result<> refill();
  Result<> add_monitor();
  void hand_over(const supervise::Handover& handover);
  void reap();
  void end_orphans();
  bool orphans_are_ours_to_end(const Monitor& monitor) const;
  void dismiss_idle();

  os::UniqueFd control_, scope_ruleset_, cgroups_, child_signals_;
  pid_t guardd_;
  std::vector<Monitor> monitors_;  // living, and those whose warden or orphans still live
};

}  // namespace guard::launcher
