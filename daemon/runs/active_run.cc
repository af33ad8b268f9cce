#include "daemon/runs/active_run.h"

#include <fcntl.h>

#include <chrono>

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>

#include "common/os/pipe.h"
#include "common/os/seqpacket.h"
#include "common/os/sys.h"

namespace guard::daemon {
namespace {

using supervise::LaunchFd;
using supervise::OrderKind;

// After the supervisor was lost its warden kills within milliseconds, and the pipes end then. One
// that does not end is held by somebody outside.
constexpr std::chrono::seconds kPatience{2};

os::UniqueFd& at(supervise::LaunchFds& fds, LaunchFd which) {
  return fds[static_cast<std::size_t>(which)];
}

}  // namespace

ActiveRun::ActiveRun(const Surroundings& around, std::string id, Admission::Place place, Told told)
    : loop_(around.loop),
      workers_(around.workers),
      launcher_(around.launcher),
      orphaned_(around.orphaned),
      id_(std::move(id)),
      place_(std::move(place)),
      told_(std::move(told)),
      control_(around.loop),
      patience_(around.loop) {}

Result<> ActiveRun::open_pipes(supervise::LaunchFds& fds, bool with_input) {
  const auto ready = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->proceed();
  };
  for (const run::Stream stream : {run::Stream::kStdout, run::Stream::kStderr}) {
    const bool is_stdout = stream == run::Stream::kStdout;
    GUARD_ASSIGN(os::Pipe pipe, os::make_pipe());
    at(fds, is_stdout ? LaunchFd::kStdout : LaunchFd::kStderr) = std::move(pipe.write);
    output_[is_stdout ? 0 : 1] =
        std::make_shared<OutputPipe>(loop_, stream, std::move(pipe.read), ready);
  }
  if (!with_input) {
    GUARD_ASSIGN(at(fds, LaunchFd::kStdin), os::open("/dev/null", O_RDONLY));
    return {};
  }
  GUARD_ASSIGN(os::Pipe pipe, os::make_pipe());
  at(fds, LaunchFd::kStdin) = std::move(pipe.read);
  input_ = std::make_shared<InputPipe>(loop_, std::move(pipe.write), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->watcher_) self->watcher_->on_input_wanted();
  });
  return {};
}

Result<> ActiveRun::launch(Prepared prepared, bool with_input,
                           std::shared_ptr<RunWatcher> watcher) {
  folder_ = std::move(prepared.folder);
  state_ = std::make_unique<RunState>(std::move(prepared.facts));
  if (auto handed = hand_over(prepared, with_input); !handed) {
    over_said_ = true;
    place_ = {};
    remove_folder();
    return handed;
  }
  watcher_ = std::move(watcher);
  listen_to_monitor();
  return {};
}

Result<> ActiveRun::hand_over(Prepared& prepared, bool with_input) {
  GUARD_TRY(open_pipes(prepared.fds, with_input));
  GUARD_ASSIGN(auto control, os::seqpacket_pair());
  control_.assign(control.first.release());
  control_.native_non_blocking(true);
  at(prepared.fds, LaunchFd::kControl) = std::move(control.second);
  return launcher_.send(prepared.launch, prepared.fds);
}

void ActiveRun::listen_to_monitor() {
  control_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (!error && self->control_.is_open()) self->hear_monitor();
                      });
}

void ActiveRun::hear_monitor() {
  for (;;) {
    auto received = supervise::receive_event(control_.native_handle(), true);
    if (!received) {
      spdlog::error("run {}: {}", id_, received.error().message());
      return supervisor_lost();
    }
    if (received->ended) return supervisor_lost();
    if (!received->message) break;
    monitor_ = received->message->monitor;
    const auto before = state_->phase();
    state_->on_monitor(*received->message);
    if (state_->phase() == RunState::Phase::kEnded) return tree_is_dead();
    if (before != state_->phase()) send_kept_signals();
  }
  listen_to_monitor();
  proceed();
}

// The control socket ends when both monitor and warden are gone; where there is no warden, what is
// left of the run is the launcher's to end. Either way its pipes end when it is dead.
void ActiveRun::supervisor_lost() {
  spdlog::warn("run {}: its monitor was lost", id_);
  boost::system::error_code ignored;
  control_.close(ignored);
  state_->on_supervisor_lost();
  orphaned_(monitor_);
  patience_.expires_after(kPatience);
  patience_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->tree_is_dead();
  });
  proceed();
}

std::optional<pid_t> ActiveRun::monitor() const {
  if (!control_.is_open()) return 0;
  if (monitor_ == 0) return std::nullopt;
  return monitor_;
}

void ActiveRun::tree_is_dead() {
  boost::system::error_code ignored;
  control_.close(ignored);
  for (const auto& pipe : output_) pipe->writers_are_gone();
  if (input_) input_->close();
  remove_folder();
  proceed();
}

// On a worker: a folder may hold a hundred thousand files.
void ActiveRun::remove_folder() {
  if (folder_state_ != Folder::kThere) return;
  if (!folder_) {
    folder_state_ = Folder::kGone;
    return;
  }
  folder_state_ = Folder::kGoing;
  auto folder = std::make_shared<PrivateFolder>(std::move(folder_));
  boost::asio::post(workers_, [self = shared_from_this(), folder] {
    auto discarded = folder->remove();
    boost::asio::post(self->loop_, [self, discarded = std::move(discarded)]() mutable {
      self->discarded_ = std::move(discarded);
      self->folder_state_ = Folder::kGone;
      self->proceed();
    });
  });
}

void ActiveRun::proceed() {
  if (watcher_busy_ || over_said_) return;
  if (auto started = state_->take_started()) {
    told_.started(*this, *started);
    return hand({id_, *std::move(started)});
  }
  if (!state_->ever_started() && state_->phase() != RunState::Phase::kEnded) return;
  if (proceed_with_output()) return;
  if (state_->phase() == RunState::Phase::kEnded && output_ended()) finish();
}

// True when a part of it was handed on: the rest waits until that was taken.
bool ActiveRun::proceed_with_output() {
  for (std::size_t i = 0; i < output_.size(); ++i) {
    OutputPipe& pipe = *output_[(turn_ + i) % output_.size()];
    if (pipe.ready() && hand_on(pipe)) {
      turn_ = (turn_ + i + 1) % output_.size();
      return true;
    }
    pipe.wait();
  }
  return false;
}

bool ActiveRun::hand_on(OutputPipe& pipe) {
  while (pipe.ready()) {
    std::string data = pipe.read();
    if (data.empty()) continue;  // nothing there, or the end: not ready any more
    if (!watcher_) {
      state_->on_discarded(pipe.stream(), data.size());
      continue;
    }
    const auto part = state_->on_output(pipe.stream(), data.size());
    if (part.over_limit) {
      stop(run::Reason::kOutputLimit, Manner::kAtOnce, "more output than its limit allows");
    }
    if (part.size == 0) continue;
    data.resize(part.size);
    hand({id_, run::Output{pipe.stream(), part.offset, std::move(data)}});
    return true;
  }
  return false;
}

bool ActiveRun::output_ended() const { return output_[0]->ended() && output_[1]->ended(); }

void ActiveRun::hand(run::Event event) {
  if (!watcher_) return proceed();
  watcher_busy_ = true;
  watcher_->on_event(std::move(event));
}

void ActiveRun::event_taken() {
  watcher_busy_ = false;
  proceed();
}

void ActiveRun::finish() {
  remove_folder();
  if (folder_state_ != Folder::kGone) return;
  over_said_ = true;
  patience_.cancel();
  run::RunResult result = state_->result();
  result.discarded = std::move(discarded_);
  place_ = {};
  const auto self = shared_from_this();  // `over` may drop the last other owner
  told_.over(*this, result);
  if (watcher_) watcher_->on_event({id_, run::Finished{std::move(result)}});
  watcher_.reset();
}

void ActiveRun::give_input(std::string piece) {
  if (input_) input_->write(std::move(piece));
}

void ActiveRun::end_input() {
  if (input_) input_->end();
}

void ActiveRun::signal(int number) {
  if (state_->phase() == RunState::Phase::kStarting) {
    kept_signals_.push_back(number);
  } else {
    send_order(OrderKind::kSignal, number);
  }
}

void ActiveRun::send_kept_signals() {
  for (const int number : std::exchange(kept_signals_, {})) {
    send_order(OrderKind::kSignal, number);
  }
}

void ActiveRun::stop(run::Reason reason, Manner manner, std::string detail) {
  const bool first = state_->stop(reason, std::move(detail));
  if (state_->phase() == RunState::Phase::kEnded) return;
  if (manner == Manner::kAtOnce) {
    send_order(OrderKind::kKill);
  } else if (first) {
    send_order(OrderKind::kTerminate);
  }
}

void ActiveRun::abandon(run::Reason reason) {
  watcher_.reset();
  watcher_busy_ = false;
  stop(reason, Manner::kAtOnce);
  for (const auto& pipe : output_) pipe->close();
  if (input_) input_->close();
  proceed();
}

// One that does not arrive found no monitor any more; its end is heard soon.
void ActiveRun::send_order(OrderKind kind, int signal) {
  if (!control_.is_open()) return;
  const supervise::MonitorOrder order{.kind = kind, .signal = signal};
  if (auto sent = supervise::send_order(control_.native_handle(), order); !sent) {
    spdlog::debug("run {}: an order did not arrive: {}", id_, sent.error().message());
  }
}

}  // namespace guard::daemon
