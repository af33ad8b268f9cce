#include "daemon/daemon.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_posix.h>
#include <spdlog/spdlog.h>

#include "common/wire/limits.h"

namespace guard::daemon {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Preparing a run is short; what a worker may wait for is a file system that hangs.
constexpr std::size_t kWorkers = 4;
// A client that says nothing for so long loses its connection; the next call makes a new one.
constexpr std::chrono::milliseconds kConnectionIdle = 10min;
// Nor one that has just connected and is about to call.
constexpr std::chrono::milliseconds kConnectionIdleLeast = 1s;
// Of the way down: runs get their SIGTERM and grace, then the kill, then nobody is waited for.
constexpr std::chrono::milliseconds kKillAfter = 3s;
constexpr std::chrono::milliseconds kGiveUpAfter = 6s;
constexpr std::chrono::milliseconds kDrainStep = 5ms;
constexpr std::chrono::milliseconds kCallsEndWithin = 200ms;
constexpr std::chrono::milliseconds kGiveUpCallsAfter = 2s;

constexpr long kStaleSeconds = 24L * 60 * 60;

std::chrono::milliseconds connection_idle(const Config& config) {
  return std::clamp(config.idle_exit.value_or(kConnectionIdle), kConnectionIdleLeast,
                    kConnectionIdle);
}

}  // namespace

Daemon::Daemon(Config config, Parts parts)
    : config_(std::move(config)),
      listener_(std::move(parts.listener)),
      cookie_(std::move(parts.cookie)),
      manager_(std::move(parts.manager)),
      scratch_(std::move(parts.scratch)),
      preparation_(std::move(parts.kernel), std::move(parts.protected_folders), scratch_),
      workers_(kWorkers),
      orphans_(loop_, parts.cgroups.get(), [this] { return keepers(); }),
      launcher_(loop_, std::move(parts.launcher), parts.open_files, std::move(parts.cgroups),
                [this] { orphans_.hunt(); }),
      runs_({.loop = loop_,
             .workers = workers_,
             .launcher = launcher_,
             .orphaned = [this](pid_t monitor) { orphans_.hunt(monitor); }},
            preparation_),
      service_(loop_, workers_, runs_, preparation_),
      gate_(service_, cookie_ ? cookie_->text() : std::string()),
      acceptor_(
          loop_, listener_.fd(),
          [this, rule = CallerRule{.uid = ::geteuid(), .guardd = ::getpid()}](
              const os::Peer& peer) { return check_caller(peer, rule, processes_); },
          [this](os::UniqueFd fd) { admit(std::move(fd)); }),
      signals_(loop_, SIGTERM, SIGINT, SIGHUP),
      idle_timer_(loop_),
      drain_timer_(loop_),
      last_busy_(Clock::now()) {
  signals_.add(SIGCHLD);
}

Result<> Daemon::serve() {
  GUARD_TRY(launcher_.start());
  serve_calls();
  if (!server_) return failure(Errc::kInternal, "gRPC did not start");
  boost::asio::post(workers_, [this] { scratch_.remove_stale(kStaleSeconds); });
  await_signals();
  await_idleness();
  acceptor_.start();
  spdlog::info("guardd (pid {}) listens on {}", ::getpid(), listener_.path());
  if (config_.ready_fd >= 0) {
    const os::UniqueFd ready(std::exchange(config_.ready_fd, -1));
    constexpr std::string_view kReady = "ready\n";
    if (::write(ready.get(), kReady.data(), kReady.size()) < 0) spdlog::warn("--ready-fd: write");
  }
  manager_.say("READY=1");
  loop_.run();
  stop_calls();
  return {};
}

void Daemon::serve_calls() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  builder.RegisterService(&gate_);
  builder.SetMaxReceiveMessageSize(static_cast<int>(wire::kMaxMessageBytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(connection_idle(config_).count()));
  server_ = builder.BuildAndStart();
}

void Daemon::admit(os::UniqueFd fd) {
  last_busy_ = Clock::now();
  connections_.remember(fd.get());
  grpc::AddInsecureChannelFromFd(server_.get(), fd.release());
}

void Daemon::await_signals() {
  signals_.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    on_signal(number);
    await_signals();
  });
}

void Daemon::on_signal(int number) {
  if (number == SIGCHLD) return orphans_.reap();
  spdlog::info("signal {}: {}", number, draining_ ? "ending at once" : "ending");
  if (draining_) {
    loop_.stop();
  } else {
    drain();
  }
}

std::optional<std::vector<pid_t>> Daemon::keepers() const {
  auto pids = runs_.monitors();
  if (pids && launcher_.pid() != 0) pids->push_back(launcher_.pid());
  return pids;
}

// Also with a connection that was made a moment ago and not yet accepted it is not idle.
bool Daemon::is_idle() {
  if (!runs_.empty() || service_.calls() > 0 || connections_.count_open() > 0) return false;
  pollfd waiting{.fd = listener_.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 0) == 0;
}

void Daemon::await_idleness() {
  if (!config_.idle_exit) return;
  const auto step = std::clamp<std::chrono::milliseconds>(*config_.idle_exit / 8, 10ms, 15s);
  idle_timer_.expires_after(step);
  idle_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || draining_ || stopping_) return;
    const auto now = Clock::now();
    if (!is_idle()) last_busy_ = now;
    if (now - last_busy_ < *config_.idle_exit) return await_idleness();
    spdlog::info("idle: ending");
    // Nothing waits to be accepted, and from here on nothing is: what connects now stays with an
    // inherited socket, for the next guardd.
    acceptor_.stop();
    drain();
  });
}

// Calls are answered as long as it lasts: new runs with UNAVAILABLE, those that were running with
// their results.
void Daemon::drain() {
  draining_ = true;
  manager_.say("STOPPING=1");
  if (listener_.is_inherited()) acceptor_.stop();  // the next guardd's clients already
  drain_began_ = Clock::now();
  server_->GetHealthCheckService()->SetServingStatus(false);
  runs_.close();
  runs_.stop_all(run::Reason::kDaemonShutdown, ActiveRun::Manner::kWithGrace);
  drain_step();
}

void Daemon::drain_step() {
  const auto so_far = Clock::now() - drain_began_;
  if ((runs_.empty() && service_.calls() == 0) || so_far > kGiveUpAfter) return loop_.stop();
  if (so_far > kKillAfter) {
    runs_.stop_all(run::Reason::kDaemonShutdown, ActiveRun::Manner::kAtOnce);
  }
  drain_timer_.expires_after(kDrainStep);
  drain_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopping_) drain_step();
  });
}

// The calls that are left are cancelled, and their reactors answer on the loop.
void Daemon::stop_calls() {
  stopping_ = true;
  acceptor_.stop();
  orphans_.stop();
  launcher_.stop();
  bool stopped = false;
  loop_.restart();
  std::thread stopper([this, &stopped] {
    server_->Shutdown(std::chrono::system_clock::now() + kCallsEndWithin);
    boost::asio::post(loop_, [this, &stopped] {
      stopped = true;
      loop_.stop();
    });
  });
  const auto work = boost::asio::make_work_guard(loop_);
  loop_.run_for(kGiveUpCallsAfter);
  if (!stopped) {
    spdlog::warn("{} calls did not end", service_.calls());
    {
      const auto cookie = std::move(cookie_);
      const Listener gone = std::move(listener_);
    }
    ::_exit(0);
  }
  stopper.join();
  workers_.join();
}

}  // namespace guard::daemon
