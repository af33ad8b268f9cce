#include "daemon/transport/listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "common/base/visible.h"
#include "common/os/runtime_dir.h"
#include "common/os/sys.h"

namespace guard::daemon {
namespace {

// As many as the kernel allows: gRPC's clients connect without blocking and take a full backlog,
// EAGAIN on a Unix socket, for a broken connection.
constexpr int kBacklog = SOMAXCONN;
constexpr int kLockAttempts = 16;

// A name in the folder without the folder's own length: sun_path takes 107 bytes.
Result<sockaddr_un> address_of(int folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/" + name;
  if (path.size() >= sizeof address.sun_path) {
    return failure(Errc::kInvalid, "the socket's name '" + visible(name) + "' is too long");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

const sockaddr* as_sockaddr(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<os::UniqueFd> stream_socket() {
  os::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket && errno == EPERM) {
    return failure(Errc::kDenied, "a sandbox around guardd refuses Unix sockets",
                   "start it outside, or confine further with xenarch-guard");
  }
  if (!socket) return os_failure("socket");
  return socket;
}

std::unexpected<Error> already_running(int lock) {
  char text[32] = {};
  const ssize_t size = ::pread(lock, text, sizeof text - 1, 0);
  std::string pid(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  pid.resize(std::min(pid.find_first_not_of("0123456789"), pid.size()));
  return failure(Errc::kExists,
                 "already running" + (pid.empty() ? std::string() : " (pid " + pid + ")"));
}

// The file that is locked may have been removed from the folder meanwhile, by a person.
bool is_still_at(int folder, const std::string& name, int fd) {
  struct stat open_file{}, named{};
  return ::fstat(fd, &open_file) == 0 &&
         ::fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

Result<int> option_of(int socket, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(socket, SOL_SOCKET, option, &value, &size) != 0) {
    return os_failure("the socket that was passed");
  }
  return value;
}

Result<std::string> listening_path(int socket) {
  constexpr const char* kHint = "give guardd.socket ListenStream=%t/guardd/guardd.sock";
  GUARD_ASSIGN(const int domain, option_of(socket, SO_DOMAIN));
  GUARD_ASSIGN(const int type, option_of(socket, SO_TYPE));
  GUARD_ASSIGN(const int listens, option_of(socket, SO_ACCEPTCONN));
  if (domain != AF_UNIX || type != SOCK_STREAM || listens == 0) {
    return failure(Errc::kInvalid, "what was passed is not a listening Unix stream socket", kHint);
  }
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return os_failure("getsockname");
  }
  const std::size_t length = size - offsetof(sockaddr_un, sun_path);
  const std::string path(address.sun_path, ::strnlen(address.sun_path, length));
  if (!path.starts_with('/')) {  // unnamed or abstract, or relative to a folder of long ago
    return failure(Errc::kInvalid, "the socket that was passed has no absolute path", kHint);
  }
  return path;
}

Result<> write_pid(int lock) {
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock, 0) != 0 ||
      ::pwrite(lock, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return os_failure("write the lock file");
  }
  return {};
}

}  // namespace

Result<> Listener::take_lock() {
  const std::string name = os::beside_socket(name_, ".lock");
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    GUARD_ASSIGN(lock_, os::open_at(folder_.get(), name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return already_running(lock_.get());
      return os_failure("lock '" + visible(name) + "'");
    }
    if (is_still_at(folder_.get(), name, lock_.get())) return write_pid(lock_.get());
  }
  return failure(Errc::kInternal, "lock '" + visible(name) + "': it is replaced again and again");
}

// What has the name must be a socket that nobody answers: what a guardd left that was killed.
Result<> Listener::check_place() const {
  struct stat status{};
  if (::fstatat(folder_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return os_failure("'" + visible(path_) + "'");
  }
  if (!S_ISSOCK(status.st_mode)) {
    return failure(Errc::kDenied, "'" + visible(path_) + "' exists and is not a socket",
                   "remove it, or choose another path with --socket");
  }
  GUARD_ASSIGN(const os::UniqueFd probe, stream_socket());
  GUARD_ASSIGN(const sockaddr_un address, address_of(folder_.get(), name_));
  if (::connect(probe.get(), as_sockaddr(address), sizeof address) == 0 || errno == EAGAIN) {
    return failure(Errc::kExists, "another program listens on '" + visible(path_) + "'",
                   "end it, or choose another path with --socket");
  }
  return {};
}

Result<> Listener::bind_and_publish() {
  const std::string unready = name_ + "." + std::to_string(::getpid()) + ".tmp";
  GUARD_ASSIGN(socket_, stream_socket());
  GUARD_ASSIGN(const sockaddr_un address, address_of(folder_.get(), unready));
  // Ours by its pid, and we hold the lock: left by a guardd that was killed at this very point.
  ::unlinkat(folder_.get(), unready.c_str(), 0);
  const mode_t before = ::umask(0177);
  const int bound = ::bind(socket_.get(), as_sockaddr(address), sizeof address);
  const int error = errno;
  ::umask(before);
  if (bound != 0) return os_failure("bind '" + visible(path_) + "'", error);

  struct stat status{};
  if (::listen(socket_.get(), kBacklog) != 0 ||
      ::fstatat(folder_.get(), unready.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      ::renameat(folder_.get(), unready.c_str(), folder_.get(), name_.c_str()) != 0) {
    auto failed = os_failure("listen on '" + visible(path_) + "'");
    ::unlinkat(folder_.get(), unready.c_str(), 0);
    return failed;
  }
  bound_ = {status.st_dev, status.st_ino};
  return {};
}

Result<> Listener::open_folder(const std::string& socket_path) {
  const std::size_t slash = socket_path.rfind('/');
  if (slash == std::string::npos || slash + 1 == socket_path.size()) {
    return failure(Errc::kInvalid, "'" + visible(socket_path) + "' is not a socket's path");
  }
  path_ = socket_path;
  name_ = socket_path.substr(slash + 1);
  GUARD_ASSIGN(folder_,
               os::open_private_directory(slash == 0 ? "/" : socket_path.substr(0, slash)));
  return {};
}

Result<Listener> Listener::open(const std::string& socket_path) {
  Listener listener;
  GUARD_TRY(listener.open_folder(socket_path));
  GUARD_TRY(listener.take_lock());
  GUARD_TRY(listener.check_place());
  GUARD_TRY(listener.bind_and_publish());
  return listener;
}

Result<Listener> Listener::inherit(os::UniqueFd socket) {
  GUARD_ASSIGN(const std::string path, listening_path(socket.get()));
  Listener listener;
  GUARD_TRY(listener.open_folder(path));
  struct stat status{};
  if (::fstatat(listener.folder_.get(), listener.name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) !=
      0) {
    return os_failure("'" + visible(path) + "'");
  }
  if (!S_ISSOCK(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) {
    return failure(Errc::kDenied, "'" + visible(path) + "' is not a socket that is ours alone",
                   "give guardd.socket SocketMode=0600");
  }
  GUARD_TRY(os::set_nonblocking(socket.get()));
  listener.socket_ = std::move(socket);
  listener.inherited_ = true;
  if (auto locked = listener.take_lock(); !locked && locked.error().code != Errc::kExists) {
    return std::unexpected(std::move(locked).error());
  }
  return listener;
}

Listener::~Listener() {
  if (!socket_ || inherited_) return;  // moved from, never bound, or another's
  struct stat status{};
  if (::fstatat(folder_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      bound_ == Identity{status.st_dev, status.st_ino}) {
    ::unlinkat(folder_.get(), name_.c_str(), 0);
  }
}

}  // namespace guard::daemon
