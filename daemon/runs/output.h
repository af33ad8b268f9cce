// One output stream of a run: the read end of its pipe.
//
// It is read only when somebody can take what is read, so a stalled client fills the pipe, blocks
// the program, and never grows guardd. Chunks start at 64 KiB (a pipe's own size) and grow to 256
// KiB, pipe and buffer, while the program fills them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/os/unique_fd.h"
#include "common/run/result.h"

namespace guard::daemon {

class OutputPipe : public std::enable_shared_from_this<OutputPipe> {
 public:
  // `ready` is called on the loop when a read() would have something to say.
  OutputPipe(boost::asio::io_context& loop, run::Stream stream, os::UniqueFd read_end,
             std::function<void()> ready);
  OutputPipe(const OutputPipe&) = delete;

  run::Stream stream() const { return stream_; }

  // Starts waiting, unless it waits or is ready already.
  void wait();
  bool ready() const { return ready_; }
  // At its end: nothing will come any more.
  bool ended() const { return ended_; }

  // At most one chunk. Empty: nothing there now (ready() is false then), or the end.
  std::string read();

  // Nobody can write any more: an empty pipe is an ended one, whoever still holds its other end.
  void writers_are_gone();

  void close();

 private:
  boost::asio::posix::stream_descriptor pipe_;
  run::Stream stream_;
  std::function<void()> on_ready_;
  std::size_t chunk_;
  bool waiting_ = false;
  bool ready_ = false;
  bool ended_ = false;
  bool no_writers_ = false;

  void grow();
};

}  // namespace guard::daemon
