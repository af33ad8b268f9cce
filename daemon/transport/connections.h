// Which of the connections that were handed to gRPC are still open.
//
// gRPC closes the descriptor when it is done with it and tells nobody, and the kernel gives the
// number out again at once. A connection is therefore known by its socket's inode too.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>

namespace guard::daemon {

class Connections {
 public:
  // Before the descriptor is given to gRPC. Replaces what an earlier connection of that number
  // left.
  void remember(int fd);

  // Forgets those that are closed.
  std::size_t count_open();

 private:
  std::map<int, ino_t> inodes_;
};

}  // namespace guard::daemon
