#include "common/os/descriptors.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace guard::os {
namespace {

constexpr unsigned kLast = std::numeric_limits<unsigned>::max();

Result<> close_between(unsigned first, unsigned last) {
  if (first > last) return {};
  if (::syscall(SYS_close_range, first, last, 0) < 0) return os_failure("close_range");
  return {};
}

}  // namespace

Result<> close_all_but(std::vector<int> fences) {
  std::sort(fences.begin(), fences.end());
  unsigned first = 0;
  for (const int fd : fences) {
    if (fd < 0) continue;
    const auto fence = static_cast<unsigned>(fd);
    if (fence > first) GUARD_TRY(close_between(first, fence - 1));
    first = std::max(first, fence + 1);
  }
  return close_between(first, kLast);
}

}  // namespace guard::os
