// What is said about refused connections: the first few of a minute by themselves, the others as a
// number. Whoever is refused can try for ever, and must not fill the log.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace guard::daemon {

class Refusals {
 public:
  using Clock = std::chrono::steady_clock;

  // The line to log for one more, if any.
  std::optional<std::string> note(pid_t pid, std::string_view why, Clock::time_point now);

 private:
  Clock::time_point began_;
  int said_ = 0;
  std::uint64_t unsaid_ = 0;
};

}  // namespace guard::daemon
