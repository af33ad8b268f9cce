// What is known of one run, and what follows from it. No I/O: ActiveRun feeds it and does what it
// says.
//
//   starting ──kStarted──▶ running ──kFinished──▶ ended
//       └──────kSpawnFailed, kFinished───────────▶ ended
//       └──────────────supervisor lost───────────▶ ended (either of them)
//
// "Ended" means that no process of the run exists. Output that still lies in the pipes then is
// delivered before the result.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/run/event.h"
#include "common/run/result.h"
#include "common/run/spec.h"
#include "common/supervise/launch_protocol.h"

namespace guard::daemon {

// What the words of a run's end need to know about its beginning.
struct RunFacts {
  std::string program;  // argv[0]
  std::string cwd;
  std::vector<std::string> candidates;  // as in the Launch
  sandbox::Limits limits;
  sandbox::Report report;
};

class RunState {
 public:
  enum class Phase { kStarting, kRunning, kEnded };

  explicit RunState(RunFacts facts) : facts_(std::move(facts)) {}

  // From the monitor. What comes out of turn (a second kStarted, anything after the end) is
  // ignored.
  void on_monitor(const supervise::MonitorEvent& event);
  // Its control socket ended without kFinished. `detail` goes into the result.
  void on_supervisor_lost();

  // Somebody wants it to end. The first reason counts; false: it is ending already.
  bool stop(run::Reason reason, std::string detail = {});

  // `size` bytes were read from a stream. How many of them may be delivered, and from where.
  struct Part {
    std::uint64_t offset = 0;
    std::size_t size = 0;     // the rest is beyond the output limit
    bool over_limit = false;  // the run has to be stopped
  };
  Part on_output(run::Stream stream, std::size_t size);
  // Bytes of the stream that nobody will be told of, for want of a reader.
  void on_discarded(run::Stream stream, std::size_t size);

  Phase phase() const { return phase_; }
  bool stopping() const { return stop_.has_value(); }
  pid_t pid() const { return pid_; }
  const sandbox::Report& report() const { return facts_.report; }

  // The program has been executed: what `started` tells. Once.
  std::optional<run::Started> take_started();
  bool ever_started() const { return started_; }

  // Only in kEnded.
  run::RunResult result() const;

 private:
  struct Stop {
    run::Reason reason;
    std::string detail;
  };
  struct Total {
    std::uint64_t bytes = 0;
    bool truncated = false;
  };
  Total& total(run::Stream stream) { return totals_[static_cast<std::size_t>(stream) - 1]; }
  std::string candidate(std::uint32_t index) const;
  run::SpawnError spawn_error() const;
  run::Reason reason_of_own_end(int wait_status, std::chrono::microseconds cpu) const;

  RunFacts facts_;
  Phase phase_ = Phase::kStarting;
  bool started_ = false;
  bool started_taken_ = false;
  bool over_limit_ = false;
  pid_t pid_ = 0;
  std::vector<std::string> notes_;
  std::optional<Stop> stop_;
  std::optional<supervise::MonitorEvent> spawn_failed_;
  std::optional<supervise::MonitorEvent> finished_;  // none in kEnded: the supervisor was lost
  std::array<Total, 2> totals_{};
};

}  // namespace guard::daemon
