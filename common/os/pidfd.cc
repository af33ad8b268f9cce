#include "common/os/pidfd.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

namespace guard::os {

Result<UniqueFd> pidfd_open(pid_t pid) {
  const long fd = ::syscall(SYS_pidfd_open, pid, 0);  // close-on-exec by definition
  if (fd < 0) return os_failure("pidfd_open " + std::to_string(pid));
  return UniqueFd(static_cast<int>(fd));
}

Result<> pidfd_signal(int pidfd, int signal) {
  if (::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) < 0)
    return os_failure("pidfd_send_signal");
  return {};
}

bool pidfd_ended(int pidfd) {
  pollfd end{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, 0) > 0;
}

}  // namespace guard::os
