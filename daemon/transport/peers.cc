#include "daemon/transport/peers.h"

#include <sys/stat.h>

#include <charconv>

namespace guard::daemon {
namespace {

ino_t inode_of(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

}  // namespace

void Peers::remember(int fd, const Caller& caller) {
  const std::lock_guard lock(mutex_);
  entries_[fd] = {caller, inode_of(fd)};
}

std::optional<Caller> Peers::find(std::string_view peer) const {
  constexpr std::string_view kPrefix = "fd:";
  if (!peer.starts_with(kPrefix)) return std::nullopt;
  peer.remove_prefix(kPrefix.size());
  int fd = -1;
  const char* const end = peer.data() + peer.size();
  const auto [stop, error] = std::from_chars(peer.data(), end, fd);
  if (error != std::errc() || stop != end) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(fd);
  if (entry == entries_.end()) return std::nullopt;
  return entry->second.caller;
}

std::size_t Peers::count_open() {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const auto& entry) {
    return entry.second.inode == 0 || inode_of(entry.first) != entry.second.inode;
  });
  return entries_.size();
}

}  // namespace guard::daemon
