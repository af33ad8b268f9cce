#include "common/supervise/supervision.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/os/proc_stat.h"
#include "common/os/seqpacket.h"
#include "common/os/sys.h"

namespace guard::supervise {
namespace {

using std::chrono::milliseconds;

// Processes that SIGKILL does not end in this time (a dead NFS server) are reported as stragglers.
constexpr milliseconds kTreeKillBound{5000};
// SIGKILL is asynchronous. Between two strokes of the scope, which are exact, and of the sweep,
// which is a race against fork(2).
constexpr milliseconds kScopePause{20};
constexpr milliseconds kSweepPause{1};
// What the program leaves behind may end by itself in this time: it often is the end of a pipe, as
// `exec > >(tee log)` in a script, and the last lines are in it.
constexpr milliseconds kLinger{200};
// guardd reads its events at once; one that does not is given up on.
constexpr int kReportPatienceMs = 2000;

Result<os::UniqueFd> open_child_signals() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigaddset(&child, kWardenEndSignal);
  os::UniqueFd fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return os_failure("signalfd");
  return fd;
}

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

}  // namespace

bool Supervision::run(Handover handover) {
  control_ = std::move(handover.fds[static_cast<std::size_t>(LaunchFd::kControl)]);
  if (warden_.pid != 0) tie_to_warden(warden_, control_.get());
  if (const auto started = start(std::move(handover)); started) {
    watch();
    if (leader_ended_ && !cause_) linger();
  } else {
    const int error = started.error().os_errno;
    failed_ = PayloadRecord{.kind = RecordKind::kFailed,
                            .stage = static_cast<std::uint32_t>(sandbox::Stage::kSetup),
                            .error = error != 0 ? error : EINVAL};
    forked_at_ = ended_at_ = os::now();
  }
  end_tree();
  cgroup_.remove();
  report_start();
  report_finish();
  return stragglers_ == 0;
}

// The descriptors of the program are closed here when this returns: only the run holds them, so
// that their readers see the end when the run is dead.
Result<> Supervision::start(Handover handover) {
  GUARD_ASSIGN(child_signals_, open_child_signals());
  GUARD_ASSIGN(launch_, read_launch(handover));
  if (!scope_.proven()) cgroup_ = RunCgroup::make(cgroups_);
  GUARD_ASSIGN(auto records, os::seqpacket_pair());
  GUARD_ASSIGN(const Payload payload,
               Payload::prepare(launch_, std::move(handover.fds), std::move(records.second),
                                {.scope_ruleset = scope_ruleset_,
                                 .gated = !scope_.proven() && cgroup_.door() < 0,
                                 .cgroup_door = cgroup_.door()}));
  forked_at_ = os::now();
  leader_ = ::fork();
  if (leader_ < 0) {
    leader_ = 0;
    return os_failure("fork");
  }
  if (leader_ == 0) payload.run();
  records_ = std::move(records.first);
  if (launch_.wall.count() > 0) wall_deadline_ = forked_at_ + launch_.wall;
  return {};
}

// Until the program has ended or has to.
void Supervision::watch() {
  while (!leader_ended_ && !ending_) {
    pollfd sources[] = {{.fd = child_signals_.get(), .events = POLLIN, .revents = 0},
                        {.fd = records_.get(), .events = POLLIN, .revents = 0},
                        {.fd = control_.get(), .events = POLLIN, .revents = 0},
                        {.fd = gate_.listener(), .events = POLLIN, .revents = 0}};
    int timeout = -1;
    if (grace_deadline_) {
      timeout = os::poll_timeout(*grace_deadline_);
    } else if (wall_deadline_) {
      timeout = os::poll_timeout(*wall_deadline_);
    }
    (void)::poll(sources, std::size(sources), timeout);  // EINTR: all signals are blocked
    gate_.answer(sources[3].revents);
    if (sources[1].revents != 0) take_records();
    if (sources[0].revents != 0) reap_orphans();
    if (sources[2].revents != 0 && !leader_ended_) take_orders();
    if (!leader_ended_) check_deadlines();
  }
  ended_at_ = os::now();
}

void Supervision::take_orders() {
  for (;;) {
    const auto order = receive_order(control_.get(), true);
    if (!order || order->ended) {  // guardd is gone, however it went
      control_.reset();
      return end(EndCause::kOrder);
    }
    const auto& message = order->message;
    if (!message) return;
    switch (message->kind) {
      case OrderKind::kKill:
        return end(EndCause::kOrder);
      case OrderKind::kTerminate:
        terminate(EndCause::kOrder);
        break;
      case OrderKind::kSignal:
        // The leader is not reaped, so its number is still its own, and its group's. Before it has
        // made its group there is only itself.
        if (const int signal = message->signal; ::kill(-leader_, signal) != 0 && errno == ESRCH)
          (void)::kill(leader_, signal);
        break;
    }
  }
}

void Supervision::take_records() {
  while (records_) {
    PayloadRecord record;
    auto packet = os::receive_packet(records_.get(), sizeof record, true);
    if (!packet) {
      // No descriptor left for the gate's listener: it is closed then, and the child says so.
      if (packet.error().code == Errc::kInvalid) continue;
      return;
    }
    if (packet->kind == os::Packet::Kind::kNothingYet) return;
    if (packet->bytes.size() != sizeof record) {
      records_.reset();
      if (trying_ && !failed_) report_start();
      return;
    }
    std::memcpy(&record, packet->bytes.data(), sizeof record);
    if (record.kind == RecordKind::kGate && packet->fds.size() == 1)
      gate_.take(std::move(packet->fds[0]));
    if (record.kind == RecordKind::kInCgroup) cgroup_.prove(leader_);
    trying_ = record.kind == RecordKind::kTrying;
    if (record.kind == RecordKind::kFailed) failed_ = record;
    if (record.kind == RecordKind::kPassedOver)
      report({.kind = EventKind::kPassedOver, .error = record.error, .index = record.index});
  }
}

// Reaps what has ended, but not the leader: while it is a zombie, its number is nobody else's.
void Supervision::reap_orphans() {
  drain_child_signals();
  for (;;) {
    siginfo_t child{};
    if (::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 || child.si_pid == 0)
      return;
    if (child.si_pid == leader_) {
      leader_ended_ = true;
      return;
    }
    (void)::waitpid(child.si_pid, nullptr, __WALL);
    if (child.si_pid == warden_.pid) warden_.pid = 0;
  }
}

// The leader is reaped first: nobody signals by its number any more.
void Supervision::linger() {
  os::Instant until = os::now() + kLinger;
  if (wall_deadline_) until = std::min(until, *wall_deadline_);
  while (!reap_all_but_the_warden() && os::now() < until) {
    pollfd sources[] = {{.fd = child_signals_.get(), .events = POLLIN, .revents = 0},
                        {.fd = control_.get(), .events = POLLIN, .revents = 0},
                        {.fd = gate_.listener(), .events = POLLIN, .revents = 0}};
    (void)::poll(sources, std::size(sources), os::poll_timeout(until));
    gate_.answer(sources[2].revents);
    if (sources[1].revents != 0) return;  // an order, or guardd is gone: either ends it
    drain_child_signals();
  }
}

void Supervision::check_deadlines() {
  const os::Instant now = os::now();
  if (grace_deadline_) {
    if (now >= *grace_deadline_) ending_ = true;
  } else if (wall_deadline_ && now >= *wall_deadline_) {
    terminate(EndCause::kWall);
  }
}

void Supervision::terminate(EndCause cause) {
  if (grace_deadline_) return;
  if (!cause_) cause_ = cause;
  grace_deadline_ = os::now() + launch_.grace;
  if (launch_.grace.count() == 0) return;
  strike(SIGTERM);
  strike(SIGCONT);  // a stopped process takes no SIGTERM
}

void Supervision::end(EndCause cause) {
  if (!cause_) cause_ = cause;
  ending_ = true;
}

std::size_t Supervision::strike(int signal) const {
  if (signal == SIGKILL) cgroup_.kill();
  if (!scope_.proven()) return sweep(signal, {});
  scope_.signal_all(signal);  // the warden, with all signals blocked, feels SIGKILL only
  return 0;
}

// Kills first, reaps then; nobody is let through the gate any more. No child left means nobody
// left: every process of the run has an ancestor that is our child.
void Supervision::end_tree() {
  const os::Instant deadline = os::now() + kTreeKillBound;
  bool strike_again = true;
  ending_tree_ = true;
  for (;;) {
    if (strike_again) strike(SIGKILL);
    if (reap_everything()) break;
    const os::Instant now = os::now();
    if (now >= deadline) {
      const auto all = os::all_processes();
      stragglers_ = all ? static_cast<std::uint32_t>(descendants(::getpid(), *all, {}).size()) : 1;
      break;
    }
    const milliseconds pause = scope_.proven() ? kScopePause : kSweepPause;
    pollfd child{.fd = child_signals_.get(), .events = POLLIN, .revents = 0};
    const bool somebody_ended =
        ::poll(&child, 1, os::poll_timeout(std::min(deadline, now + pause))) > 0;
    drain_child_signals();
    strike_again = !scope_.proven() || !somebody_ended;
  }
}

// Both: true when there is no child left that they look at. The warden is a child for __WALL only;
// what the run leaves to us is one like any other, whatever it was to its own parent.
bool Supervision::reap_everything() { return reap(__WALL); }
bool Supervision::reap_all_but_the_warden() { return reap(0); }

bool Supervision::reap(int which) {
  for (;;) {
    int status = 0;
    siginfo_t next{};
    if (::waitid(P_ALL, 0, &next, WEXITED | WNOHANG | WNOWAIT | which) != 0) return errno == ECHILD;
    if (next.si_pid == 0) return false;
    if (ending_tree_ && !scope_.proven()) kill_group_of(next.si_pid);
    const pid_t pid = ::waitpid(next.si_pid, &status, which);
    if (pid == leader_) {
      leader_status_ = status;
    } else if (ending_tree_ && pid != warden_.pid && WIFSIGNALED(status) &&
               WTERMSIG(status) == SIGKILL) {
      ++killed_;
    }
  }
}

void Supervision::drain_child_signals() const {
  signalfd_siginfo ignored;
  while (::read(child_signals_.get(), &ignored, sizeof ignored) > 0) {
  }
}

// kStarted or kSpawnFailed, whichever came true; neither when it was ended before it came so far.
void Supervision::report_start() {
  if (start_reported_) return;
  take_records();
  if (start_reported_) return;
  start_reported_ = true;
  if (failed_) {
    if (!cause_) cause_ = EndCause::kNotStarted;
    return report({.kind = EventKind::kSpawnFailed,
                   .stage = failed_->stage,
                   .error = failed_->error,
                   .index = failed_->index,
                   .axis = failed_->axis});
  }
  if (trying_) return report({.kind = EventKind::kStarted, .pid = leader_});
  if (cause_) return;
  cause_ = EndCause::kNotStarted;  // something killed it between fork and exec
  report({.kind = EventKind::kSpawnFailed,
          .stage = static_cast<std::uint32_t>(sandbox::Stage::kSetup),
          .error = ECANCELED});
}

void Supervision::report_finish() {
  rusage usage{};
  (void)::getrusage(RUSAGE_CHILDREN, &usage);
  const auto wall = std::chrono::duration_cast<std::chrono::microseconds>(ended_at_ - forked_at_);
  constexpr std::uint64_t kRssUnit = 1024;
  report({.kind = EventKind::kFinished,
          .pid = leader_,
          .wait_status = leader_status_,
          .cause = cause_.value_or(EndCause::kOwn),
          .killed = killed_,
          .stragglers = stragglers_,
          .wall_us = static_cast<std::uint64_t>(wall.count()),
          .user_us = microseconds(usage.ru_utime),
          .system_us = microseconds(usage.ru_stime),
          .max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * kRssUnit});
}

KillLayer Supervision::kill_layer() const {
  if (scope_.proven()) return KillLayer::kScope;
  if (cgroup_.proven()) return KillLayer::kCgroup;
  return gate_.proven() ? KillLayer::kGate : KillLayer::kSweep;
}

void Supervision::report(MonitorEvent event) {
  if (!control_) return;
  event.kill_layer = static_cast<std::uint32_t>(kill_layer());
  event.monitor = ::getpid();
  auto sent = send_event(control_.get(), event, true);
  if (sent || sent.error().os_errno != EAGAIN) return;
  if (event.kind == EventKind::kPassedOver) return;  // a note; the run matters more
  pollfd room{.fd = control_.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&room, 1, kReportPatienceMs) > 0) (void)send_event(control_.get(), event, true);
}

}  // namespace guard::supervise
