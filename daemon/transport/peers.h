// Who is behind a connection: the key that gRPC's ServerContext::peer() gives for a connection that
// was handed to it as a descriptor is "fd:N".
//
// gRPC closes the descriptor when it is done with it and tells nobody, and the kernel gives the
// number out again at once. An entry is therefore known by its socket's inode too.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace guard::daemon {

struct Caller {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  friend bool operator==(const Caller&, const Caller&) = default;
};

// May be used from any thread.
class Peers {
 public:
  // Before the descriptor is given to gRPC. Replaces what an earlier connection of that number
  // left.
  void remember(int fd, const Caller& caller);

  // For the text of ServerContext::peer(); none when it is not one of ours.
  std::optional<Caller> find(std::string_view peer) const;

  // Connections that are still open; forgets the others.
  std::size_t count_open();

 private:
  struct Entry {
    Caller caller;
    ino_t inode = 0;
  };
  mutable std::mutex mutex_;
  std::map<int, Entry> entries_;
};

}  // namespace guard::daemon
