#include "daemon/runs/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace guard::daemon {
namespace {

constexpr std::size_t kFirstChunk = 64u << 10;
constexpr std::size_t kLargestChunk = 256u << 10;

}  // namespace

OutputPipe::OutputPipe(boost::asio::io_context& loop, run::Stream stream, os::UniqueFd read_end,
                       std::function<void()> ready)
    : pipe_(loop, read_end.release()),
      stream_(stream),
      on_ready_(std::move(ready)),
      chunk_(kFirstChunk) {
  pipe_.native_non_blocking(true);
}

void OutputPipe::wait() {
  if (waiting_ || ready_ || ended_) return;
  waiting_ = true;
  pipe_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                   [self = shared_from_this()](const boost::system::error_code&) {
                     self->waiting_ = false;
                     if (self->ended_) return;
                     self->ready_ = true;
                     self->on_ready_();
                   });
}

std::string OutputPipe::read() {
  if (ended_) return {};
  std::string data;
  ssize_t size = 0;
  data.resize_and_overwrite(chunk_, [&](char* buffer, std::size_t capacity) {
    do {
      size = ::read(pipe_.native_handle(), buffer, capacity);
    } while (size < 0 && errno == EINTR);
    return size > 0 ? static_cast<std::size_t>(size) : 0;
  });
  if (size > 0) {
    if (data.size() == chunk_) {
      grow();
    } else {
      data.shrink_to_fit();  // a line of text must not hold 64 KiB until it is sent
    }
    return data;
  }
  ready_ = false;
  const bool empty = size < 0 && errno == EAGAIN;
  if (!empty || no_writers_) close();
  return {};
}

void OutputPipe::grow() {
  if (chunk_ >= kLargestChunk) return;
  // Fails when the user's pipe pages are used up (pipe-user-pages-soft): then it stays as it is.
  if (::fcntl(pipe_.native_handle(), F_SETPIPE_SZ, static_cast<int>(kLargestChunk)) < 0) return;
  chunk_ = kLargestChunk;
}

void OutputPipe::writers_are_gone() {
  no_writers_ = true;
  ready_ = !ended_;  // worth a read() at once
}

void OutputPipe::close() {
  ended_ = true;
  ready_ = false;
  boost::system::error_code ignored;
  pipe_.close(ignored);
}

}  // namespace guard::daemon
