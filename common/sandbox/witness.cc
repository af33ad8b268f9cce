#include "common/sandbox/witness.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>

#include "common/os/raw_syscall.h"
#include "common/sandbox/capabilities.h"

namespace guard::sandbox {
namespace {

using os::raw_syscall;

// A descriptor means that the call went through; it is closed again.
bool refused(long descriptor) noexcept {
  if (descriptor < 0) return true;
  raw_syscall(SYS_close, descriptor);
  return false;
}

bool canary_is_out_of_reach(const Orders& orders) noexcept {
  if (orders.canary_name == nullptr) return true;
  const long opened = raw_syscall(SYS_openat, orders.canary_dir_fd, orders.canary_name,
                                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  // Any other error proves nothing.
  return refused(opened) && opened == -EACCES;
}

}  // namespace

std::string_view name_of(WitnessAxis axis) {
  switch (axis) {
    case WitnessAxis::kNone:
      break;
    case WitnessAxis::kNoNewPrivs:
      return "no new privileges";
    case WitnessAxis::kFileAccess:
      return "file access";
    case WitnessAxis::kSocket:
      return "sockets";
    case WitnessAxis::kSyscall:
      return "system calls";
    case WitnessAxis::kCapabilities:
      return "capabilities";
  }
  return "none";
}

WitnessAxis witness(const Orders& orders) noexcept {
  if (raw_syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS) != 1) return WitnessAxis::kNoNewPrivs;
  if (!canary_is_out_of_reach(orders)) return WitnessAxis::kFileAccess;
  if (!refused(raw_syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC))) {
    return WitnessAxis::kSocket;
  }
  if (raw_syscall(SYS_unshare) >= 0) return WitnessAxis::kSyscall;
  if (orders.drop_capabilities && !has_no_capabilities()) return WitnessAxis::kCapabilities;
  return WitnessAxis::kNone;
}

}  // namespace guard::sandbox
