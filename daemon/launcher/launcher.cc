#include "daemon/launcher/launcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/os/peer.h"
#include "common/os/seqpacket.h"
#include "common/supervise/group_gate.h"
#include "common/supervise/monitor.h"
#include "common/supervise/run_cgroup.h"
#include "common/supervise/tree_kill.h"

namespace guard::launcher {
namespace {

using std::chrono::milliseconds;

// A warden kills in a few milliseconds. One that was stopped or killed is not waited for.
constexpr milliseconds kWardenPatience{200};
constexpr milliseconds kSweepPause{2};
// After this a process that will not die is left to be reaped whenever it does.
constexpr milliseconds kSweepBound{5000};
constexpr milliseconds kDismissBound{500};

Result<os::UniqueFd> open_child_signals() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  if (::sigprocmask(SIG_BLOCK, &child, nullptr) != 0) return os_failure("sigprocmask");
  os::UniqueFd fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return os_failure("signalfd");
  return fd;
}

// What guardd hears when there is no monitor to say it.
void answer_for_nobody(int control, int error) {
  supervise::MonitorEvent event{.kind = supervise::EventKind::kSpawnFailed};
  event.stage = static_cast<std::uint32_t>(sandbox::Stage::kSetup);
  event.error = error;
  (void)supervise::send_event(control, event, true);  // guardd is gone: so is the question
  event = {.kind = supervise::EventKind::kFinished};
  event.cause = supervise::EndCause::kNotStarted;
  (void)supervise::send_event(control, event, true);
}

}  // namespace

Result<Launcher> Launcher::create(os::UniqueFd control, os::UniqueFd scope_ruleset,
                                  os::UniqueFd cgroups) {
  GUARD_ASSIGN(const os::Peer guardd, os::peer_of(control.get()));
  GUARD_ASSIGN(os::UniqueFd signals, open_child_signals());
  Launcher launcher(std::move(control), std::move(scope_ruleset), std::move(cgroups),
                    std::move(signals), guardd.pid);
  (void)launcher.refill();  // no room for a process now: each Launch tries again and is answered
  return launcher;
}

Result<> Launcher::serve() {
  for (;;) {
    std::vector<pollfd> sources{{.fd = control_.get(), .events = POLLIN, .revents = 0},
                                {.fd = child_signals_.get(), .events = POLLIN, .revents = 0}};
    int timeout = -1;
    for (const auto& monitor : monitors_) {
      if (!monitor.left_orphans) continue;
      sources.push_back({.fd = monitor.socket.get(), .events = 0, .revents = 0});
      timeout = static_cast<int>(kSweepPause.count());
    }
    if (::poll(sources.data(), sources.size(), timeout) < 0 && errno != EINTR)
      return os_failure("poll");
    if (sources[1].revents != 0) reap();
    end_orphans();
    if (sources[0].revents == 0) continue;
    auto handover = supervise::receive_launch(control_.get());
    if (!handover) {
      // Out of descriptors, or not a Launch. Its control socket, if it came, is closed: guardd sees
      // a run that has lost its monitor, and the next one may do better.
      if (handover.error().code == Errc::kInvalid) continue;
      return std::unexpected(std::move(handover).error());
    }
    if (!*handover) {
      dismiss_idle();
      return {};
    }
    hand_over(**handover);
    handover->reset();  // the run's descriptors are its monitor's alone now
    (void)refill();     // failing, the next Launch tries again and answers for it
  }
}

Result<> Launcher::refill() {
  auto idle = static_cast<std::size_t>(
      std::count_if(monitors_.begin(), monitors_.end(), [](const auto& m) { return m.idle; }));
  for (; idle < kIdleMonitors; ++idle) GUARD_TRY(add_monitor());
  return {};
}

Result<> Launcher::add_monitor() {
  GUARD_ASSIGN(auto ends, os::seqpacket_pair());
  const pid_t self = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return os_failure("fork");
  if (pid == 0) {
    supervise::live_as_monitor({.socket = ends.second.get(),
                                .scope_ruleset = scope_ruleset_.get(),
                                .cgroups = cgroups_.get(),
                                .guardd = guardd_,
                                .launcher = self});
  }
  monitors_.push_back({.pid = pid, .socket = std::move(ends.first)});
  return {};
}

void Launcher::hand_over(const supervise::Handover& handover) {
  int error = EAGAIN;
  // Twice: what is idle may all have been killed a moment ago.
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (auto& monitor : monitors_) {
      if (!monitor.idle) continue;
      monitor.idle = false;  // an idle one that takes nothing is dying
      if (supervise::forward_launch(monitor.socket.get(), handover)) return;
    }
    if (const auto added = add_monitor(); !added) {
      error = added.error().os_errno;
      break;
    }
  }
  answer_for_nobody(handover.fd(supervise::LaunchFd::kControl), error);
}

// Monitors, and orphans whose monitor is gone: whoever is left in their groups goes with them.
void Launcher::reap() {
  signalfd_siginfo ignored;
  while (::read(child_signals_.get(), &ignored, sizeof ignored) > 0) {
  }
  for (;;) {
    siginfo_t next{};
    if (::waitid(P_ALL, 0, &next, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 || next.si_pid == 0)
      return;
    const pid_t pid = next.si_pid;
    const auto monitor = std::find_if(monitors_.begin(), monitors_.end(),
                                      [pid](const auto& m) { return m.pid == pid; });
    if (monitor == monitors_.end()) supervise::kill_group_of(pid);
    int status = 0;
    (void)::waitpid(pid, &status, __WALL);
    if (monitor == monitors_.end()) continue;
    if (status == 0) {
      monitors_.erase(monitor);
    } else {
      monitor->pid_was = std::exchange(monitor->pid, 0);
      monitor->idle = false;
      monitor->left_orphans = true;
      monitor->ended_at = os::now();
    }
  }
}

// The second line behind the warden, and the only one where the kernel has no signal scope: orphans
// of a dead monitor are our children now, and whoever descends from us but not through a living
// monitor is one.
void Launcher::end_orphans() {
  const auto dead = [](const auto& m) { return m.left_orphans; };
  if (std::none_of(monitors_.begin(), monitors_.end(), dead)) return;
  if (!std::all_of(monitors_.begin(), monitors_.end(), [&](const auto& monitor) {
        return !dead(monitor) || orphans_are_ours_to_end(monitor);
      }))
    return;
  std::vector<pid_t> living;
  for (const auto& monitor : monitors_)
    if (monitor.pid != 0) living.push_back(monitor.pid);
  bool anybody = supervise::sweep(SIGKILL, living) > 0;
  for (const auto& monitor : monitors_)
    if (dead(monitor) && !supervise::end_cgroup_of(cgroups_.get(), monitor.pid_was)) anybody = true;
  const os::Instant given_up_before = os::now() - kSweepBound;
  std::erase_if(monitors_, [&](const auto& monitor) {
    return dead(monitor) && (!anybody || monitor.ended_at < given_up_before);
  });
}

bool Launcher::orphans_are_ours_to_end(const Monitor& monitor) const {
  pollfd warden_gone{.fd = monitor.socket.get(), .events = 0, .revents = 0};
  return ::poll(&warden_gone, 1, 0) > 0 || os::now() >= monitor.ended_at + kWardenPatience;
}

// Tells them that no Launch will come, and reaps them and their wardens, so that nobody else need.
void Launcher::dismiss_idle() {
  for (auto& monitor : monitors_)
    if (monitor.idle) ::shutdown(monitor.socket.get(), SHUT_WR);
  const os::Instant deadline = os::now() + kDismissBound;
  const auto any_idle = [this] {
    return std::any_of(monitors_.begin(), monitors_.end(), [](const auto& m) { return m.idle; });
  };
  do {
    pollfd child{.fd = child_signals_.get(), .events = POLLIN, .revents = 0};
    (void)::poll(&child, 1, static_cast<int>(kSweepPause.count()));
    reap();
  } while (any_idle() && os::now() < deadline);
  // A warden goes when it sees its monitor gone, and comes to us in between.
  siginfo_t next{};
  while (os::now() < deadline && monitors_.empty() &&
         ::waitid(P_ALL, 0, &next, WEXITED | __WALL) == 0) {
  }
}

}  // namespace guard::launcher
