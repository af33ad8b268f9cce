#include "client/oneshot/standard_streams.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "common/os/unique_fd.h"

namespace guard::client {
namespace {

constexpr const char* kNames[] = {"stdin", "stdout", "stderr"};

Result<> check_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return os_failure("getsockopt");
  if (type != SOCK_STREAM && type != SOCK_SEQPACKET) {
    return failure(Errc::kInvalid, std::string(kNames[fd]) + " is a datagram socket",
                   "it would reach any address; use a pipe");
  }
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0) return {};
  return failure(Errc::kInvalid, std::string(kNames[fd]) + " is a socket without a peer",
                 "it would reach any address; use a pipe");
}

bool is_read_write_terminal(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDWR && ::isatty(fd) == 1;
}

bool same_device(int a, int b) {
  struct stat first{}, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_rdev == second.st_rdev;
}

}  // namespace

void occupy_closed_streams() {
  // O_CLOEXEC: the program finds them closed, as it would without us.
  while (true) {
    const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    if (fd > STDERR_FILENO) {
      ::close(fd);
      return;
    }
  }
}

Result<> check_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    struct stat status{};
    if (::fstat(fd, &status) != 0) continue;
    if (S_ISDIR(status.st_mode)) {
      return failure(Errc::kInvalid, std::string(kNames[fd]) + " is a folder",
                     "redirect it to a file, a pipe or /dev/null");
    }
    if (S_ISSOCK(status.st_mode)) GUARD_TRY(check_socket(fd));
  }
  return {};
}

bool make_terminals_write_only() {
  bool all = true;
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    if (!is_read_write_terminal(fd)) continue;
    if (::isatty(STDIN_FILENO) == 1 && same_device(STDIN_FILENO, fd)) continue;
    const std::string name = "/proc/self/fd/" + std::to_string(fd);
    const os::UniqueFd writer(::open(name.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (!writer || ::dup3(writer.get(), fd, 0) < 0) all = false;
  }
  return all;
}

}  // namespace guard::client
