#include "client/render/byte_sink.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace guard::client {

Result<> DescriptorSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd waiting{fd_, POLLOUT, 0};
      (void)::poll(&waiting, 1, -1);  // EINTR: the next write(2) decides
    } else if (errno != EINTR) {
      return os_failure("write " + name_);
    }
  }
  return {};
}

}  // namespace guard::client
