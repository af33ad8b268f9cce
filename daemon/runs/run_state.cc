#include "daemon/runs/run_state.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "common/base/visible.h"
#include "daemon/runs/tree_kill_line.h"

namespace guard::daemon {
namespace {

using std::chrono::microseconds;
using supervise::EndCause;
using supervise::EventKind;

std::variant<run::Exited, run::Signaled, run::SpawnError> ending_of(int wait_status) {
  if (WIFEXITED(wait_status)) return run::Exited{WEXITSTATUS(wait_status)};
  if (WIFSIGNALED(wait_status)) return run::Signaled{WTERMSIG(wait_status)};
  return run::Signaled{SIGKILL};
}

bool is_about_a_path(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP;
}

}  // namespace

void RunState::on_monitor(const supervise::MonitorEvent& event) {
  if (phase_ == Phase::kEnded) return;
  switch (event.kind) {
    case EventKind::kStarted:
      if (phase_ != Phase::kStarting || spawn_failed_) return;
      phase_ = Phase::kRunning;
      started_ = true;
      pid_ = event.pid;
      tell_tree_kill(static_cast<supervise::KillLayer>(event.kill_layer), facts_.report);
      return;
    case EventKind::kPassedOver:
      notes_.push_back("passed over '" + visible(candidate(event.index)) +
                       "': " + std::strerror(event.error));
      return;
    case EventKind::kSpawnFailed:
      if (phase_ == Phase::kStarting) spawn_failed_ = event;
      return;
    case EventKind::kFinished:
      finished_ = event;
      phase_ = Phase::kEnded;
      return;
  }
}

void RunState::on_supervisor_lost() { phase_ = Phase::kEnded; }

bool RunState::stop(run::Reason reason, std::string detail) {
  if (stop_ || phase_ == Phase::kEnded) return false;
  stop_ = Stop{reason, std::move(detail)};
  return true;
}

RunState::Part RunState::on_output(run::Stream stream, std::size_t size) {
  Total& so_far = total(stream);
  Part part{.offset = so_far.bytes, .size = size};
  so_far.bytes += size;
  const auto limit = facts_.limits.output_bytes;
  if (limit && so_far.bytes > *limit) {
    part.size = part.offset < *limit ? static_cast<std::size_t>(*limit - part.offset) : 0;
    part.over_limit = true;
    so_far.truncated = true;
    over_limit_ = true;
  }
  return part;
}

void RunState::on_discarded(run::Stream stream, std::size_t size) {
  total(stream).bytes += size;
  total(stream).truncated = true;
}

std::optional<run::Started> RunState::take_started() {
  if (!started_ || started_taken_) return std::nullopt;
  started_taken_ = true;
  return run::Started{facts_.report, notes_};
}

std::string RunState::candidate(std::uint32_t index) const {
  return index < facts_.candidates.size() ? facts_.candidates[index] : facts_.program;
}

run::SpawnError RunState::spawn_error() const {
  if (!spawn_failed_) {
    return run::explain_spawn(sandbox::Stage::kNone, 0, 0, facts_.program, &facts_.report);
  }
  const auto stage = static_cast<sandbox::Stage>(spawn_failed_->stage);
  const auto axis = static_cast<std::uint8_t>(spawn_failed_->axis);
  std::string path;
  if (stage == sandbox::Stage::kExec) {
    // A name that PATH has nowhere is told as it was typed, not as its last candidate.
    const bool nowhere =
        spawn_failed_->error == ENOENT && facts_.program.find('/') == std::string::npos;
    path = nowhere ? facts_.program : candidate(spawn_failed_->index);
  } else if (stage == sandbox::Stage::kSetup && is_about_a_path(spawn_failed_->error)) {
    path = facts_.cwd;
  }
  return run::explain_spawn(stage, spawn_failed_->error, axis, std::move(path), &facts_.report);
}

// RLIMIT_CPU with equal limits ends a process with SIGKILL, and SIGXCPU where a program has raised
// nothing; the time used tells it from somebody else's signal. The kernel ends it by a finer count
// than the one that it tells afterwards, which may be some ticks short of the limit.
run::Reason RunState::reason_of_own_end(int wait_status, microseconds cpu) const {
  if (!WIFSIGNALED(wait_status)) return run::Reason::kExited;
  const int signal = WTERMSIG(wait_status);
  const bool may_be_cpu = signal == SIGXCPU || signal == SIGKILL;
  constexpr std::chrono::milliseconds kTicks{100};
  if (may_be_cpu && facts_.limits.cpu && cpu + kTicks >= *facts_.limits.cpu) {
    return run::Reason::kCpuLimit;
  }
  return run::Reason::kSignaled;
}

run::RunResult RunState::result() const {
  run::RunResult result;
  result.streams = {{run::Stream::kStdout, totals_[0].bytes, totals_[0].truncated},
                    {run::Stream::kStderr, totals_[1].bytes, totals_[1].truncated}};
  if (stop_) result.detail = stop_->detail;
  if (!finished_) {
    result.ending = run::Signaled{SIGKILL};
    result.reason = run::Reason::kSupervisorLost;
    result.detail = "the monitor of this run was killed; what it had started was killed after it";
    return result;
  }
  result.usage = {.wall = microseconds(finished_->wall_us),
                  .user = microseconds(finished_->user_us),
                  .system = microseconds(finished_->system_us),
                  .max_rss_bytes = finished_->max_rss_bytes};
  result.killed = finished_->killed;
  result.stragglers = finished_->stragglers;
  if (!started_) {
    result.ending = spawn_error();
    result.reason = run::Reason::kSpawnFailed;
    if (finished_->cause == EndCause::kWall) result.reason = run::Reason::kTimeout;
    if (finished_->cause == EndCause::kOrder && stop_) result.reason = stop_->reason;
    return result;
  }
  result.ending = ending_of(finished_->wait_status);
  switch (finished_->cause) {
    case EndCause::kWall:
      result.reason = run::Reason::kTimeout;
      break;
    case EndCause::kOrder:
      result.reason = stop_ ? stop_->reason : run::Reason::kSignaled;
      break;
    default:
      result.reason =
          reason_of_own_end(finished_->wait_status, result.usage.user + result.usage.system);
      // It was quicker than its killer; what it wrote beyond the limit was thrown away all the
      // same.
      if (over_limit_) result.reason = run::Reason::kOutputLimit;
      break;
  }
  return result;
}

}  // namespace guard::daemon
