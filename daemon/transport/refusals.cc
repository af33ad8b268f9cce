#include "daemon/transport/refusals.h"

namespace guard::daemon {
namespace {

constexpr int kMostLines = 10;
constexpr std::chrono::minutes kPeriod{1};

}  // namespace

std::optional<std::string> Refusals::note(pid_t pid, std::string_view why, Clock::time_point now) {
  if (now - began_ >= kPeriod) {
    began_ = now;
    said_ = 0;
  }
  if (said_ == kMostLines) {
    ++unsaid_;
    return std::nullopt;
  }
  ++said_;
  std::string line = "a connection of pid " + std::to_string(pid) + " was refused: ";
  line += why;
  if (unsaid_ > 0) line += " (and " + std::to_string(unsaid_) + " before it)";
  unsaid_ = 0;
  if (said_ == kMostLines) line += "; more within a minute are only counted";
  return line;
}

}  // namespace guard::daemon
