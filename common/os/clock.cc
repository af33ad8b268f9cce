#include "common/os/clock.h"

#include <algorithm>

namespace guard::os {

int poll_timeout(Instant deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline - now());
  return static_cast<int>(std::clamp<milliseconds::rep>(left.count(), 0, 24 * 3600 * 1000));
}

}  // namespace guard::os
