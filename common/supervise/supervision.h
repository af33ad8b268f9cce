// One run from fork to the last reaped process: what a monitor does once it has its Launch.
#pragma once

#include <sys/types.h>

#include <optional>

#include "common/os/clock.h"
#include "common/os/unique_fd.h"
#include "common/supervise/group_gate.h"
#include "common/supervise/launch_protocol.h"
#include "common/supervise/payload.h"
#include "common/supervise/run_cgroup.h"
#include "common/supervise/tree_kill.h"
#include "common/supervise/warden.h"

namespace guard::supervise {

// The only thread of its process, which is a subreaper, has SIGCHLD blocked and no children but the
// warden. Events go out in the order of EventKind; kFinished is always sent, once, last.
class Supervision {
 public:
  // `scope_ruleset`, `cgroups`: as in MonitorSeat.
  Supervision(const KillScope& scope, Warden warden, int scope_ruleset, int cgroups)
      : scope_(scope),
        warden_(std::move(warden)),
        scope_ruleset_(scope_ruleset),
        cgroups_(cgroups) {}

  // Starts the program and stays with it. True: no process of the run is left.
  bool run(Handover handover);

 private:
  Result<> start(Handover handover);
  void watch();
  void take_orders();
  void take_records();
  void reap_orphans();
  void linger();
  void check_deadlines();
  void terminate(EndCause cause);
  void end(EndCause cause);
  void end_tree();
  std::size_t strike(int signal) const;
  bool reap_everything();
  bool reap_all_but_the_warden();
  bool reap(int which);
  void drain_child_signals() const;
  void report_start();
  void report_finish();
  KillLayer kill_layer() const;
  void report(MonitorEvent event);

  KillScope scope_;
  Warden warden_;
  GroupGate gate_;
  RunCgroup cgroup_;
  int scope_ruleset_;
  int cgroups_;

  os::UniqueFd control_;        // closed once guardd is gone
  os::UniqueFd records_;        // from the payload; closed at its end
  os::UniqueFd child_signals_;  // signalfd(2): SIGCHLD, and the warden's
  Launch launch_;
  pid_t leader_ = 0;  // the program; never reaped before the tree is to be killed
  bool leader_ended_ = false;
  bool trying_ = false;  // the last record said so: the program runs if the pipe ends now
  std::optional<PayloadRecord> failed_;
  bool start_reported_ = false;
  std::optional<EndCause> cause_;
  bool ending_ = false;
  bool ending_tree_ = false;

  os::Instant forked_at_{}, ended_at_{};
  std::optional<os::Instant> wall_deadline_, grace_deadline_;
  int leader_status_ = 0;
  std::uint32_t killed_ = 0;  // reaped with SIGKILL after the tree kill began, the leader apart
  std::uint32_t stragglers_ = 0;
};

}  // namespace guard::supervise
