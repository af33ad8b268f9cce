#include "daemon/runs/input.h"

#include <unistd.h>

#include <cerrno>

#include <boost/asio/post.hpp>

#include "common/base/check.h"

namespace guard::daemon {

InputPipe::InputPipe(boost::asio::io_context& loop, os::UniqueFd write_end,
                     std::function<void()> written)
    : pipe_(loop, write_end.release()), on_written_(std::move(written)) {
  pipe_.native_non_blocking(true);
}

void InputPipe::write(std::string piece) {
  GUARD_CHECK(!busy_ && !end_wanted_);
  piece_ = std::move(piece);
  at_ = 0;
  busy_ = true;
  proceed();
}

void InputPipe::end() {
  end_wanted_ = true;
  if (!busy_) close();
}

void InputPipe::close() {
  boost::system::error_code ignored;
  pipe_.close(ignored);
}

void InputPipe::proceed() {
  while (at_ < piece_.size() && pipe_.is_open()) {
    const ssize_t size = ::write(pipe_.native_handle(), piece_.data() + at_, piece_.size() - at_);
    if (size >= 0) {
      at_ += static_cast<std::size_t>(size);
    } else if (errno == EAGAIN) {
      pipe_.async_wait(
          boost::asio::posix::stream_descriptor::wait_write,
          [self = shared_from_this()](const boost::system::error_code&) { self->proceed(); });
      return;
    } else if (errno != EINTR) {
      close();  // EPIPE: the program has closed its end, which is its right
    }
  }
  done();
}

void InputPipe::done() {
  busy_ = false;
  piece_ = {};
  if (end_wanted_) return close();
  boost::asio::post(pipe_.get_executor(), on_written_);
}

}  // namespace guard::daemon
