#include "common/os/peer.h"

#include <sys/socket.h>

#include <cerrno>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Debian 12's headers are older than it
#endif

namespace guard::os {

Result<Peer> peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
    return os_failure("getsockopt SO_PEERCRED");
  Peer peer{.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid, .pidfd = {}};
  int pidfd = -1;
  size = sizeof pidfd;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0) {
    peer.pidfd_supported = true;
    peer.pidfd.reset(pidfd);  // close-on-exec by definition
  } else {
    peer.pidfd_supported = errno != ENOPROTOOPT;
  }
  return peer;
}

bool knows_peer_pidfds() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  const UniqueFd first(ends[0]), second(ends[1]);
  const auto peer = peer_of(first.get());
  return peer && peer->pidfd_supported;
}

}  // namespace guard::os
