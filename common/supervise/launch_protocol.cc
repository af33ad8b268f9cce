#include "common/supervise/launch_protocol.h"

#include <cstring>
#include <type_traits>

#include "common/os/memfd.h"
#include "common/os/seqpacket.h"

namespace guard::supervise {
namespace {

constexpr std::size_t kFdCount = static_cast<std::size_t>(LaunchFd::kCount);
static_assert(kFdCount <= os::kMaxPacketFds);

constexpr std::uint32_t bit(LaunchFd which) { return 1u << static_cast<unsigned>(which); }
constexpr std::uint32_t kAllBits = (1u << kFdCount) - 1;
constexpr std::uint32_t kRequired = bit(LaunchFd::kBlock) | bit(LaunchFd::kControl) |
                                    bit(LaunchFd::kStdin) | bit(LaunchFd::kStdout) |
                                    bit(LaunchFd::kStderr) | bit(LaunchFd::kCwd);

template <class Message>
std::string_view bytes_of(const Message& message) {
  static_assert(std::is_trivially_copyable_v<Message>);
  return {reinterpret_cast<const char*>(&message), sizeof message};
}

Result<> send_header(int socket, LaunchHeader header, const LaunchFds& fds, int block,
                     bool nowait) {
  std::vector<int> numbers;
  header.present = 0;
  for (std::size_t i = 0; i < kFdCount; ++i) {
    const int fd = i == static_cast<std::size_t>(LaunchFd::kBlock) ? block : fds[i].get();
    if (fd < 0) continue;
    header.present |= 1u << i;
    numbers.push_back(fd);
  }
  if ((header.present & kRequired) != kRequired)
    return failure(Errc::kInvalid, "a launch lacks a descriptor");
  return os::send_packet(socket, bytes_of(header), numbers, nowait);
}

template <class Message>
Result<Received<Message>> receive_message(int socket, bool nowait) {
  GUARD_ASSIGN(const os::Packet packet, os::receive_packet(socket, sizeof(Message), nowait));
  Received<Message> received{.message = {}, .ended = packet.kind == os::Packet::Kind::kEnd};
  if (packet.kind != os::Packet::Kind::kData) return received;
  if (packet.bytes.size() != sizeof(Message) || !packet.fds.empty())
    return failure(Errc::kInvalid, "a datagram of another size than agreed");
  std::memcpy(&received.message.emplace(), packet.bytes.data(), sizeof(Message));
  return received;
}

}  // namespace

Result<> send_launch(int socket, const Launch& launch, const LaunchFds& fds) {
  const std::string block = encode(launch);
  if (block.size() > kMaxBlockBytes) {
    return failure(Errc::kInvalid, "arguments and environment take " +
                                       std::to_string(block.size()) + " bytes, more than " +
                                       std::to_string(kMaxBlockBytes));
  }
  GUARD_ASSIGN(const os::UniqueFd memfd, os::sealed_memfd("launch", block));
  const LaunchHeader header{.block_bytes = static_cast<std::uint32_t>(block.size())};
  return send_header(socket, header, fds, memfd.get(), false);
}

Result<std::optional<Handover>> receive_launch(int socket) {
  GUARD_ASSIGN(os::Packet packet, os::receive_packet(socket, sizeof(LaunchHeader)));
  if (packet.kind == os::Packet::Kind::kEnd) return std::nullopt;
  Handover handover;
  LaunchHeader& header = handover.header;
  if (packet.bytes.size() != sizeof header)
    return failure(Errc::kInvalid, "a launch header of another size than agreed");
  std::memcpy(&header, packet.bytes.data(), sizeof header);
  if (header.magic != kLaunchMagic || header.version != kProtocolVersion)
    return failure(Errc::kInvalid, "a launch of another version of this program");
  if ((header.present & ~kAllBits) != 0 || (header.present & kRequired) != kRequired)
    return failure(Errc::kInvalid, "a launch lacks a descriptor");
  std::size_t next = 0;
  for (std::size_t i = 0; i < kFdCount; ++i) {
    if ((header.present & (1u << i)) == 0) continue;
    if (next == packet.fds.size()) break;
    handover.fds[i] = std::move(packet.fds[next++]);
  }
  if (next != packet.fds.size() ||
      next != static_cast<std::size_t>(__builtin_popcount(header.present)))
    return failure(Errc::kInvalid, "a launch whose descriptors do not match its header");
  return handover;
}

Result<> forward_launch(int socket, const Handover& handover) {
  return send_header(socket, handover.header, handover.fds, handover.fd(LaunchFd::kBlock), true);
}

Result<Launch> read_launch(const Handover& handover) {
  GUARD_ASSIGN(const std::string block,
               os::read_sealed_memfd(handover.fd(LaunchFd::kBlock), kMaxBlockBytes));
  if (block.size() != handover.header.block_bytes)
    return failure(Errc::kInvalid, "a launch block of another size than its header says");
  return decode(block);
}

Result<> send_event(int socket, const MonitorEvent& event, bool nowait) {
  return os::send_packet(socket, bytes_of(event), {}, nowait);
}

Result<Received<MonitorEvent>> receive_event(int socket, bool nowait) {
  return receive_message<MonitorEvent>(socket, nowait);
}

Result<> send_order(int socket, const MonitorOrder& order) {
  return os::send_packet(socket, bytes_of(order));
}

Result<Received<MonitorOrder>> receive_order(int socket, bool nowait) {
  return receive_message<MonitorOrder>(socket, nowait);
}

}  // namespace guard::supervise
