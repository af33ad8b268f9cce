// An owned file descriptor.
//
// A parameter of type UniqueFd takes the descriptor over; a plain int borrows it for the call.
// That is the whole ownership story, so no function needs a comment about it.
#pragma once

#include <utility>

namespace guard::os {

class UniqueFd {
 public:
  UniqueFd() noexcept = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  // close(2) is never retried: Linux frees the number even when it reports EINTR, and by then
  // another thread may own it. errno is kept.
  void reset(int fd = -1) noexcept;

  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace guard::os
