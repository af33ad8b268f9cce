// Who is at the other end of a Unix socket: SO_PEERCRED, and SO_PEERPIDFD (Linux 6.5) where it
// exists.
#pragma once

#include <sys/types.h>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::os {

struct Peer {
  pid_t pid = 0;  // of whoever called connect(2) or socketpair(2); 0: not in our pid namespace
  uid_t uid = 0;
  gid_t gid = 0;
  UniqueFd pidfd;  // that very process; absent when the kernel cannot tell or it has been reaped
  bool pidfd_supported = false;
};

Result<Peer> peer_of(int socket);

// Whether this kernel can pin a peer at all.
bool knows_peer_pidfds();

}  // namespace guard::os
