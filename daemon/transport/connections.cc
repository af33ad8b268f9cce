#include "daemon/transport/connections.h"

#include <sys/stat.h>

namespace guard::daemon {
namespace {

ino_t inode_of(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

}  // namespace

void Connections::remember(int fd) { inodes_[fd] = inode_of(fd); }

std::size_t Connections::count_open() {
  std::erase_if(inodes_, [](const auto& entry) {
    return entry.second == 0 || inode_of(entry.first) != entry.second;
  });
  return inodes_.size();
}

}  // namespace guard::daemon
