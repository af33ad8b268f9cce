#include "client/cli/signal_name.h"

#include <strings.h>

#include <charconv>
#include <cstring>
#include <string>

#include "common/base/visible.h"

namespace guard::client {
namespace {

constexpr int kLastSignal = 64;
constexpr int kLastNamed = 31;

}  // namespace

Result<int> parse_signal(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (number >= 1 && number <= kLastSignal) return number;
    return failure(Errc::kInvalid, "signal " + std::to_string(number) + " is not 1 to 64");
  }
  std::string name(text);
  if (::strncasecmp(name.c_str(), "SIG", 3) == 0) name.erase(0, 3);
  for (number = 1; number <= kLastNamed; ++number) {
    const char* const known = ::sigabbrev_np(number);
    if (known != nullptr && ::strcasecmp(known, name.c_str()) == 0) return number;
  }
  return failure(Errc::kInvalid, "'" + visible(text) + "' is no signal",
                 "as in TERM, SIGKILL or 15");
}

}  // namespace guard::client
