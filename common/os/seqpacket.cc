#include "common/os/seqpacket.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>

#include "common/base/check.h"

namespace guard::os {
namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * kMaxPacketFds);

void take_fds(msghdr& message, std::vector<UniqueFd>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> seqpacket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return os_failure("socketpair");
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Result<> send_packet(int socket, std::string_view bytes, std::span<const int> fds, bool nowait) {
  GUARD_CHECK(!bytes.empty() && fds.size() <= kMaxPacketFds);
  iovec content{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[kControlBytes] = {};
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  }
  const int flags = MSG_NOSIGNAL | (nowait ? MSG_DONTWAIT : 0);
  for (;;) {
    if (::sendmsg(socket, &message, flags) >= 0) return {};
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
      return std::unexpected(Error{Errc::kUnavailable, "sendmsg", errno, {}});
    return os_failure("sendmsg");
  }
}

Result<Packet> receive_packet(int socket, std::size_t max_bytes, bool nowait) {
  Packet packet;
  packet.bytes.resize(max_bytes);
  iovec content{.iov_base = packet.bytes.data(), .iov_len = max_bytes};
  alignas(cmsghdr) char control[kControlBytes];
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  // A peer that went with something unread leaves ECONNRESET: told once, before what it had sent.
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (nowait ? MSG_DONTWAIT : 0));
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    packet.kind = Packet::Kind::kNothingYet;
    packet.bytes.clear();
    return packet;
  }
  if (got < 0) return os_failure("recvmsg");
  if (got == 0) {
    packet.bytes.clear();
    return packet;
  }
  take_fds(message, packet.fds);  // owned, so that a refusal below closes them
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return failure(Errc::kInvalid, "a datagram longer than agreed");
  packet.kind = Packet::Kind::kData;
  packet.bytes.resize(static_cast<std::size_t>(got));
  return packet;
}

}  // namespace guard::os
