#include "daemon/transport/activation.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "common/base/visible.h"

namespace guard::daemon {
namespace {

constexpr int kFirstPassed = 3;  // SD_LISTEN_FDS_START
constexpr const char* kVariables[] = {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
                                      "NOTIFY_SOCKET"};

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<bool> passes_socket(const char* listen_pid, const char* listen_fds, pid_t self) {
  if (listen_pid == nullptr || listen_pid != std::to_string(self)) return false;
  const std::string_view count = listen_fds == nullptr ? "" : listen_fds;
  if (count == "1") return true;
  return failure(Errc::kInvalid, "LISTEN_FDS is '" + visible(count) + "'; guardd takes one socket",
                 "give guardd.socket one ListenStream=");
}

Result<ServiceManager> ServiceManager::at(std::string_view address) {
  ServiceManager manager;
  if (address.empty()) return manager;
  if ((address[0] != '/' && address[0] != '@') || address.size() < 2 ||
      address.size() >= sizeof(sockaddr_un::sun_path)) {
    return failure(Errc::kInvalid, "NOTIFY_SOCKET '" + visible(address) +
                                       "' is neither an absolute path nor @name");
  }
  manager.address_ = address;
  if (address[0] == '@') manager.address_[0] = '\0';
  return manager;
}

void ServiceManager::say(std::string_view state) const {
  if (address_.empty()) return;
  const os::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, address_.data(), address_.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  (void)::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), size);
}

Result<Activation> take_activation() {
  Activation activation;
  GUARD_ASSIGN(const bool passed,
               passes_socket(std::getenv("LISTEN_PID"), std::getenv("LISTEN_FDS"), ::getpid()));
  GUARD_ASSIGN(activation.manager, ServiceManager::at(variable("NOTIFY_SOCKET")));
  for (const char* name : kVariables) ::unsetenv(name);
  if (!passed) return activation;
  if (::fcntl(kFirstPassed, F_SETFD, FD_CLOEXEC) != 0) {
    return failure(Errc::kInvalid, "LISTEN_FDS is 1, and descriptor 3 is not open");
  }
  activation.socket.emplace(kFirstPassed);
  return activation;
}

}  // namespace guard::daemon
