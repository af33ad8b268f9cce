#include "common/os/unique_fd.h"

#include <unistd.h>

#include <cerrno>

namespace guard::os {

void UniqueFd::reset(int fd) noexcept {
  const int old = std::exchange(fd_, fd);
  if (old < 0) return;
  const int saved = errno;
  ::close(old);
  errno = saved;
}

}  // namespace guard::os
