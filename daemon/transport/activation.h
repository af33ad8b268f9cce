// What a service manager passes on: a listening socket (sd_listen_fds(3)) and a place to report to
// (sd_notify(3)). Own lines instead of libsystemd: two variables and one datagram.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::daemon {

// Whether a socket was passed to the process `self`, from $LISTEN_PID and $LISTEN_FDS (null:
// unset). Variables that are not for us count as unset; such that are, but do not pass exactly one
// socket, are kInvalid: guardd must not come up deaf to whom it was started for.
Result<bool> passes_socket(const char* listen_pid, const char* listen_fds, pid_t self);

// Reports to the service manager; without one, to nobody.
class ServiceManager {
 public:
  // `address`: $NOTIFY_SOCKET; empty: there is none. kInvalid when it is neither an absolute path
  // nor "@name" (abstract), or too long.
  static Result<ServiceManager> at(std::string_view address);

  // "READY=1", "STOPPING=1", …: best effort, never waits.
  void say(std::string_view state) const;

 private:
  std::string address_;  // sun_path; begins with NUL when abstract
};

// Both, taken out of this process: the variables are gone afterwards, so that nothing we start
// inherits them. Call it while there is one thread, before descriptors are closed or opened.
struct Activation {
  std::optional<os::UniqueFd> socket;
  ServiceManager manager;
};
Result<Activation> take_activation();

}  // namespace guard::daemon
