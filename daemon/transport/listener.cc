#include "daemon/transport/listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
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

// "guardd.sock" → "guardd.lock"; a name without that ending gets ".lock" appended.
std::string lock_name(std::string name) {
  constexpr std::string_view kEnding = ".sock";
  if (name.size() > kEnding.size() && name.ends_with(kEnding)) {
    name.resize(name.size() - kEnding.size());
  }
  return name + ".lock";
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
  const std::string name = lock_name(name_);
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

Result<Listener> Listener::open(const std::string& socket_path) {
  const std::size_t slash = socket_path.rfind('/');
  if (slash == std::string::npos || slash + 1 == socket_path.size()) {
    return failure(Errc::kInvalid, "'" + visible(socket_path) + "' is not a socket's path");
  }
  Listener listener;
  listener.path_ = socket_path;
  listener.name_ = socket_path.substr(slash + 1);
  GUARD_ASSIGN(listener.folder_,
               os::open_private_directory(slash == 0 ? "/" : socket_path.substr(0, slash)));
  GUARD_TRY(listener.take_lock());
  GUARD_TRY(listener.check_place());
  GUARD_TRY(listener.bind_and_publish());
  return listener;
}

Listener::~Listener() {
  if (!socket_) return;  // moved from, or never bound
  struct stat status{};
  if (::fstatat(folder_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      bound_ == Identity{status.st_dev, status.st_ino}) {
    ::unlinkat(folder_.get(), name_.c_str(), 0);
  }
}

}  // namespace guard::daemon
