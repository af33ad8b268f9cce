// guardd's socket: one guardd per folder, and nobody else's file is ever removed.
//
//   DIR/guardd.lock   flock(2) held while a guardd lives; holds its pid; never removed, so that two
//                     starters cannot lock two different files
//   DIR/guardd.sock   0600; bound under another name and renamed, so it never exists unready
//
// The lock says who is first, not the socket: a socket that a killed guardd left is simply
// replaced.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::daemon {

class Listener {
 public:
  // Binds and listens. Changes the umask for a moment: call it while there is one thread only.
  //  kExists   a guardd holds the lock ("already running (pid 123)"), or another program answers
  //  kDenied   the folder is not ours alone, or something that is not a socket has the name
  static Result<Listener> open(const std::string& socket_path);

  // A socket that a service manager bound and listens on: it is never removed and stays the
  // manager's, who keeps what connects while no guardd runs. The lock is taken when it is free: a
  // guardd that was started before the manager bound the path serves the clients it has.
  //  kInvalid  it is no listening stream socket with an absolute path
  //  kDenied   its folder is not ours alone, or it is open to others
  static Result<Listener> inherit(os::UniqueFd socket);

  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) = delete;
  // Removes the socket if it is still the one that we bound.
  ~Listener();

  int fd() const { return socket_.get(); }  // non-blocking
  const std::string& path() const { return path_; }
  bool is_inherited() const { return inherited_; }

 private:
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  Listener() = default;

  std::string path_, name_;  // name_: within the folder
  os::UniqueFd folder_;      // O_PATH
  os::UniqueFd lock_;
  os::UniqueFd socket_;
  Identity bound_;
  bool inherited_ = false;

  Result<> open_folder(const std::string& socket_path);
  Result<> take_lock();
  Result<> check_place() const;
  Result<> bind_and_publish();
};

}  // namespace guard::daemon
