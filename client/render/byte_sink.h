// Where output goes: a descriptor, or a string in tests.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace guard::client {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Every byte, or an error with its errno: EPIPE when nobody reads any more.
  virtual Result<> write(std::string_view bytes) = 0;
};

// Unbuffered, so nothing is left behind by _exit(2). Borrows the descriptor, which may be a
// non-blocking one: stdout is shared with whoever gave it to us. SIGPIPE has to be ignored.
class DescriptorSink final : public ByteSink {
 public:
  DescriptorSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  Result<> write(std::string_view bytes) override;

 private:
  const int fd_;
  const std::string name_;  // "standard output", for errors
};

class StringSink final : public ByteSink {
 public:
  Result<> write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  std::string text;
};

}  // namespace guard::client
