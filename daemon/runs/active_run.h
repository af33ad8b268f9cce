// One run from its launch to its last word. Lives on the loop, owned by whoever waits for
// something.
//
// It feeds a RunState with what the monitor says and what comes out of the pipes, and hands events
// to one watcher, one at a time: the next one when the last was taken, so nothing piles up here.
// started, output…, finished; finished exactly once, when no process of the run exists any more and
// all output was handed on.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/base/result.h"
#include "common/run/event.h"
#include "daemon/launch/launcher_client.h"
#include "daemon/runs/admission.h"
#include "daemon/runs/input.h"
#include "daemon/runs/output.h"
#include "daemon/runs/preparation.h"
#include "daemon/runs/run_state.h"

namespace guard::daemon {

// On the loop.
class RunWatcher {
 public:
  virtual ~RunWatcher() = default;
  // Answered with ActiveRun::event_taken(); Finished is the last one.
  virtual void on_event(run::Event event) = 0;
  // The last piece of standard input has been written, or none has been given yet.
  virtual void on_input_wanted() = 0;
};

class ActiveRun : public std::enable_shared_from_this<ActiveRun> {
 public:
  struct Surroundings {
    boost::asio::io_context& loop;
    boost::asio::thread_pool& workers;  // private folders are removed there
    LauncherClient& launcher;
    std::function<void(pid_t monitor)> orphaned;  // it was lost
  };

  // Called at most once each, whether anybody watches or not.
  struct Told {
    std::function<void(const ActiveRun&, run::Started)> started;
    // Nothing is left to be done for the run.
    std::function<void(const ActiveRun&, const run::RunResult&)> over;
  };
  ActiveRun(const Surroundings& around, std::string id, Admission::Place place, Told told);
  ActiveRun(const ActiveRun&) = delete;

  const std::string& id() const { return id_; }
  const RunState& state() const { return *state_; }
  // Its pid, 0 when there is none any more; nothing while it has not spoken yet.
  std::optional<pid_t> monitor() const;

  // Hands the run to a monitor. On an error nothing ran, and neither the watcher nor `told`
  // will hear of it.
  Result<> launch(Prepared prepared, bool with_input, std::shared_ptr<RunWatcher> watcher);

  void event_taken();
  void give_input(std::string piece);  // once per on_input_wanted()
  void end_input();
  // To the program's process group; kept until the program has been executed.
  void signal(int number);

  enum class Manner { kAtOnce, kWithGrace };
  // Ends it; the result will say why. The first reason counts, a later kAtOnce only hastens.
  void stop(run::Reason reason, Manner manner, std::string detail = {});
  // Nobody watches any more: killed at once, output thrown away.
  void abandon(run::Reason reason);

 private:
  Result<> hand_over(Prepared& prepared, bool with_input);
  Result<> open_pipes(supervise::LaunchFds& fds, bool with_input);
  void listen_to_monitor();
  void hear_monitor();
  void supervisor_lost();
  void tree_is_dead();
  void remove_folder();
  void send_order(supervise::OrderKind kind, int signal = 0);
  void send_kept_signals();
  // Hands on the next event if the watcher is free.
  void proceed();
  bool proceed_with_output();
  bool hand_on(OutputPipe& pipe);
  bool output_ended() const;
  void hand(run::Event event);
  void finish();

  boost::asio::io_context& loop_;
  boost::asio::thread_pool& workers_;
  LauncherClient& launcher_;
  std::function<void(pid_t)> orphaned_;
  std::string id_;
  Admission::Place place_;
  Told told_;

  std::shared_ptr<RunWatcher> watcher_;  // null: nobody watches
  bool watcher_busy_ = false;
  std::unique_ptr<RunState> state_;
  boost::asio::posix::stream_descriptor control_;
  pid_t monitor_ = 0;
  boost::asio::steady_timer patience_;  // with pipes that stay open after the supervisor was lost
  std::shared_ptr<InputPipe> input_;
  std::array<std::shared_ptr<OutputPipe>, 2> output_;
  std::size_t turn_ = 0;  // whose output is looked at first
  std::vector<int> kept_signals_;
  PrivateFolder folder_;
  std::vector<std::string> discarded_;
  enum class Folder { kThere, kGoing, kGone } folder_state_ = Folder::kThere;
  bool over_said_ = false;
};

}  // namespace guard::daemon
