// Accepts connections on the loop and hands on those of our own user.
//
// Asio waits, accept4(2) accepts: Asio's own accept sets no close-on-exec, and a descriptor that a
// run inherits is a hole. The peer is who called connect(2), as the kernel saved it (SO_PEERCRED).
#pragma once

#include <sys/types.h>

#include <functional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/peer.h"
#include "common/os/unique_fd.h"

namespace guard::daemon {

class Acceptor {
 public:
  using Admit = std::function<void(os::UniqueFd, os::Peer)>;

  // `listening`: borrowed, non-blocking, outlives this. `allowed`: the only uid that may call.
  Acceptor(boost::asio::io_context& loop, int listening, uid_t allowed, Admit admit);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;

  void start();
  void stop();  // no connection is admitted any more; those that wait are left to the kernel

 private:
  void wait();
  void accept_some();
  void back_off();  // out of descriptors: try again in a moment instead of spinning

  boost::asio::posix::stream_descriptor listening_;
  boost::asio::steady_timer pause_;
  uid_t allowed_;
  Admit admit_;
  bool stopped_ = false;
};

}  // namespace guard::daemon
