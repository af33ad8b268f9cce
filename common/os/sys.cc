#include "common/os/sys.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace guard::os {
namespace {

std::string quoted(std::string_view verb, const std::string& path) {
  std::string text(verb);
  text += " '";
  text += path;
  text += "'";
  return text;
}

}  // namespace

Result<UniqueFd> open(const std::string& path, int flags, mode_t mode) {
  return open_at(AT_FDCWD, path, flags, mode);
}

Result<UniqueFd> open_at(int directory, const std::string& path, int flags, mode_t mode) {
  for (;;) {
    const int fd = ::openat(directory, path.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0) return UniqueFd(fd);
    if (errno != EINTR) return os_failure(quoted("open", path));
  }
}

Result<UniqueFd> duplicate(int fd, int lowest) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, lowest);
  if (copy < 0) return os_failure("fcntl F_DUPFD_CLOEXEC");
  return UniqueFd(copy);
}

Result<> set_nonblocking(int fd, bool on) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return os_failure("fcntl F_GETFL");
  const int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  if (wanted != flags && ::fcntl(fd, F_SETFL, wanted) < 0) return os_failure("fcntl F_SETFL");
  return {};
}

Result<std::size_t> read_some(int fd, char* buffer, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(fd, buffer, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return os_failure("read");
  }
}

Result<std::string> read_all(int fd, std::size_t max) {
  std::string bytes;
  char buffer[16384];
  for (;;) {
    GUARD_ASSIGN(const std::size_t got, read_some(fd, buffer, sizeof buffer));
    if (got == 0) return bytes;
    if (got > max - bytes.size())
      return failure(Errc::kInvalid, "longer than " + std::to_string(max) + " bytes");
    bytes.append(buffer, got);
  }
}

Result<std::string> read_file(const std::string& path, std::size_t max) {
  GUARD_ASSIGN(const UniqueFd fd, open(path, O_RDONLY));
  auto bytes = read_all(fd.get(), max);
  if (!bytes) return std::unexpected(std::move(bytes).error().within(quoted("read", path)));
  return bytes;
}

Result<> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno != EINTR) {
      return os_failure("write");
    }
  }
  return {};
}

Result<struct stat> stat_of(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) < 0) return os_failure("fstat");
  return status;
}

Result<std::string> read_link_at(int directory, const std::string& path) {
  for (std::size_t room = 256;; room *= 2) {
    std::string target(room, '\0');
    const ssize_t length = ::readlinkat(directory, path.c_str(), target.data(), room);
    if (length < 0) return os_failure(quoted("readlink", path));
    if (static_cast<std::size_t>(length) < room) {
      target.resize(static_cast<std::size_t>(length));
      return target;
    }
  }
}

}  // namespace guard::os
