// guard-launcher as guardd sees it: started, fed with launches, started again when it dies.
//
// guardd never forks: posix_spawn(3) is a vfork(2) inside, whose cost does not depend on guardd's
// size, and the child calls nothing but exec. Runs in flight do not notice the launcher's death;
// their monitors have their own sockets.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/supervise/launch_protocol.h"

namespace guard::daemon {

// Beside this executable, or in ../libexec/guardd/ as installed. kNotFound names both.
Result<std::string> find_launcher();

class LauncherClient {
 public:
  // `program`: absolute. `open_files`: RLIMIT_NOFILE that the launcher, and so every run, starts
  // with; guardd raises its own.
  // `lost`: called each time it has died, when another runs or is waited for.
  // `cgroups`: the folder where runs get control groups, or none.
  LauncherClient(boost::asio::io_context& loop, std::string program, rlimit open_files,
                 os::UniqueFd cgroups, std::function<void()> lost);
  LauncherClient(const LauncherClient&) = delete;

  // Starts it for the first time: before there are other threads.
  Result<> start();

  // The descriptors stay the caller's. kUnavailable while there is no launcher, kExhausted when it
  // does not keep up.
  Result<> send(const supervise::Launch& launch, const supervise::LaunchFds& fds);

  // No restart any more. The launcher ends by itself when it sees its socket closed; waits for
  // that, at most a second.
  void stop();

  pid_t pid() const { return pid_; }  // 0 when there is none

 private:
  Result<> spawn();
  void watch();
  void lost();

  std::string program_;
  rlimit open_files_;
  os::UniqueFd cgroups_;
  std::function<void()> on_lost_;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::steady_timer pause_;
  std::chrono::steady_clock::time_point started_;
  pid_t pid_ = 0;
  bool stopped_ = false;
};

}  // namespace guard::daemon
