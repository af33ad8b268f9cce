// Standard input of a run: the write end of its pipe, one piece at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/os/unique_fd.h"

namespace guard::daemon {

class InputPipe : public std::enable_shared_from_this<InputPipe> {
 public:
  // `written` is called on the loop when a piece has gone into the pipe, or into nothing because
  // the program does not read any more: the next one is wanted then. Never from within write().
  InputPipe(boost::asio::io_context& loop, os::UniqueFd write_end, std::function<void()> written);
  InputPipe(const InputPipe&) = delete;

  // Only when the last piece was written.
  void write(std::string piece);
  // The end of standard input, once what was given is written.
  void end();
  void close();

 private:
  void proceed();
  void done();

  boost::asio::posix::stream_descriptor pipe_;
  std::function<void()> on_written_;
  std::string piece_;
  std::size_t at_ = 0;
  bool busy_ = false;
  bool end_wanted_ = false;
};

}  // namespace guard::daemon
