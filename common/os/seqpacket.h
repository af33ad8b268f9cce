// AF_UNIX SOCK_SEQPACKET: datagrams that arrive whole and in order, with descriptors, and an end
// that is seen (unix(7)). Never sent: a datagram of no bytes, which reads like the end.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::os {

Result<std::pair<UniqueFd, UniqueFd>> seqpacket_pair();

// The most descriptors that one datagram may carry here (the kernel's own limit is 253).
inline constexpr std::size_t kMaxPacketFds = 16;

// Sends `bytes` (at least one) with copies of `fds`. Never SIGPIPE. kUnavailable when the peer is
// gone; kExhausted with os_errno EAGAIN when it does not read: at once with `nowait` or on a
// non-blocking socket.
Result<> send_packet(int socket, std::string_view bytes, std::span<const int> fds = {},
                     bool nowait = false);

struct Packet {
  enum class Kind { kData, kEnd, kNothingYet };  // kNothingYet: a non-blocking socket is empty
  Kind kind = Kind::kEnd;
  std::string bytes;
  std::vector<UniqueFd> fds;  // close-on-exec
};

// kInvalid when the datagram or its descriptors did not fit: nothing of it is kept.
Result<Packet> receive_packet(int socket, std::size_t max_bytes, bool nowait = false);

}  // namespace guard::os
