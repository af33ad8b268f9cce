// guardd put together: one loop on one thread, gRPC on its own, and the way down.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <grpcpp/grpcpp.h>

#include "common/base/result.h"
#include "common/os/scratch_dir.h"
#include "daemon/config.h"
#include "daemon/launch/launcher_client.h"
#include "daemon/launch/orphans.h"
#include "daemon/runs/preparation.h"
#include "daemon/runs/runs.h"
#include "daemon/service/gate.h"
#include "daemon/service/guard_service.h"
#include "daemon/transport/acceptor.h"
#include "daemon/transport/activation.h"
#include "daemon/transport/connections.h"
#include "daemon/transport/cookie.h"
#include "daemon/transport/listener.h"
#include "daemon/transport/peers.h"

namespace guard::daemon {

// Members are in the order in which they come to life; they go in the other.
class Daemon {
 public:
  // What it needs of the machine, all there before there is a second thread.
  struct Parts {
    Listener listener;
    std::optional<Cookie> cookie;  // where the kernel cannot pin a caller
    ServiceManager manager;
    std::string launcher;  // the program
    rlimit open_files;     // of the launcher and the runs
    os::UniqueFd cgroups;  // where runs get control groups, or none
    sandbox::KernelSupport kernel;
    sandbox::Protected protected_folders;
    os::ScratchRoot scratch;
  };
  Daemon(Config config, Parts parts);
  Daemon(const Daemon&) = delete;

  // Serves until a signal or idleness ends it. An error: it never came to serving.
  Result<> serve();

 private:
  void serve_calls();  // starts gRPC
  void admit(os::UniqueFd fd);
  void await_signals();
  void on_signal(int number);
  std::optional<std::vector<pid_t>> keepers() const;
  void await_idleness();
  bool is_idle();
  void drain();
  void drain_step();
  void stop_calls();

  Config config_;
  Listener listener_;
  std::optional<Cookie> cookie_;
  ServiceManager manager_;
  os::ScratchRoot scratch_;
  Preparation preparation_;
  boost::asio::io_context loop_{1};
  boost::asio::thread_pool workers_;
  Orphans orphans_;
  LauncherClient launcher_;
  Runs runs_;
  Connections connections_;
  LiveProcessTable processes_;
  GuardService service_;
  Gate gate_;
  std::unique_ptr<grpc::Server> server_;
  Acceptor acceptor_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer idle_timer_, drain_timer_;
  std::chrono::steady_clock::time_point last_busy_, drain_began_;
  bool draining_ = false;
  bool stopping_ = false;
};

}  // namespace guard::daemon
