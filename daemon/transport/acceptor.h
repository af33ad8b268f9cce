// Accepts connections on the loop and hands on those of whom may call.
//
// Asio waits, accept4(2) accepts: Asio's own accept sets no close-on-exec, and a descriptor that a
// run inherits is a hole. The peer is who called connect(2), as the kernel saved it (SO_PEERCRED).
#pragma once

#include <functional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/base/result.h"
#include "common/os/peer.h"
#include "common/os/unique_fd.h"
#include "daemon/transport/refusals.h"

namespace guard::daemon {

class Acceptor {
 public:
  // An error is why the connection is refused: it is closed and the reason logged. The peer is not
  // told, since that takes gRPC, and no byte of a refused peer should reach gRPC.
  using Check = std::function<Result<>(const os::Peer&)>;
  using Admit = std::function<void(os::UniqueFd)>;

  // `listening`: borrowed, non-blocking, outlives this.
  Acceptor(boost::asio::io_context& loop, int listening, Check check, Admit admit);
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
  Check check_;
  Admit admit_;
  Refusals refusals_;
  bool stopped_ = false;
};

}  // namespace guard::daemon
