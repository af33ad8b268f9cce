#include "client/rpc/connection.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "client/rpc/autostart.h"
#include "common/base/visible.h"
#include "common/os/clock.h"

namespace guard::client {
namespace {

constexpr std::chrono::seconds kAnswerWithin{20};

std::string quoted(std::string_view path) { return "'" + visible(path) + "'"; }

std::unexpected<Error> inside_a_sandbox() {
  return failure(Errc::kDenied, "inside a sandbox there is no way to guardd, and none is started",
                 "xenarch-guard confines further without a daemon");
}

bool nobody_listens(const Error& error) {
  return error.os_errno == ENOENT || error.os_errno == ECONNREFUSED;
}

Result<os::UniqueFd> connect_once(const std::string& path) {
  os::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return os_failure("socket for guardd");
  // A full backlog makes connect(2) wait as long as a send may.
  const timeval patience{kAnswerWithin.count(), 0};
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return failure(Errc::kInvalid, "the path of guardd's socket is too long");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  int status = -1;
  do {
    status = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (status != 0 && errno == EINTR);
  if (status != 0) return os_failure("connect to guardd at " + quoted(path));
  return fd;
}

enum class Answer { kSpoke, kClosed, kSilent };

// HTTP/2 lets the server speak first: its SETTINGS come without being asked for.
Answer await_answer(int fd) {
  const os::Instant deadline = os::now() + kAnswerWithin;
  while (true) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, os::poll_timeout(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Answer::kSilent;
    char byte = 0;
    const ssize_t got = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) return Answer::kSpoke;
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return Answer::kClosed;
  }
}

Result<os::UniqueFd> connect_or_start(const Endpoint& endpoint) {
  auto connected = connect_once(endpoint.socket);
  if (connected) return connected;
  const int error = connected.error().os_errno;
  if (is_confined()) return inside_a_sandbox();
  if (!nobody_listens(connected.error())) {
    if (error == EAGAIN) connected.error().code = Errc::kUnavailable;
    return connected;
  }
  if (!endpoint.autostart) {
    return std::unexpected(
        Error{Errc::kUnavailable, "no guardd listens at " + quoted(endpoint.socket), error, ""});
  }
  return start_and_connect(endpoint.socket, [&endpoint] { return connect_once(endpoint.socket); });
}

}  // namespace

bool none_listens(const Error& error) {
  return error.code == Errc::kUnavailable && nobody_listens(error);
}

bool is_confined() {
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
         ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
}

Result<os::UniqueFd> connect_guardd(const Endpoint& endpoint) {
  // Twice: the first may have reached a guardd that was on its way out.
  for (int attempt = 0; attempt < 2; ++attempt) {
    GUARD_ASSIGN(os::UniqueFd fd, connect_or_start(endpoint));
    switch (await_answer(fd.get())) {
      case Answer::kSpoke:
        return fd;
      case Answer::kSilent:
        return failure(Errc::kUnavailable,
                       "guardd at " + quoted(endpoint.socket) + " does not answer",
                       "is it stopped? see its log, guardd.log beside the socket");
      case Answer::kClosed:
        break;
    }
  }
  if (is_confined()) return inside_a_sandbox();
  return failure(Errc::kUnavailable,
                 "guardd at " + quoted(endpoint.socket) + " closed the connection",
                 "see its log, guardd.log beside the socket");
}

}  // namespace guard::client
