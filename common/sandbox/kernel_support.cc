#include "common/sandbox/kernel_support.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "common/os/raw_syscall.h"
#include "common/os/unique_fd.h"
#include "common/sandbox/landlock/ruleset.h"

namespace guard::sandbox {
namespace {

using os::raw_syscall;

constexpr const char* kLowerAbi = "GUARD_LANDLOCK_ABI_MAX";

Result<std::optional<int>> lowered_abi() {
  const char* text = std::getenv(kLowerAbi);
  if (text == nullptr) return std::nullopt;
  const std::string_view view(text);
  int value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (view.empty() || error != std::errc{} || end != view.data() + view.size() || value < 0 ||
      value > 99) {
    return failure(Errc::kInvalid, std::string(kLowerAbi) + " is '" + std::string(view) + "'",
                   "a number from 0 to 99, or unset it");
  }
  return value;
}

bool has_seccomp_filter() {
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  return raw_syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool has_pidfd() {
  const os::UniqueFd self(static_cast<int>(raw_syscall(SYS_pidfd_open, ::getpid(), 0)));
  return static_cast<bool>(self);
}

bool has_close_range() {
  // Nothing is ever open there.
  return raw_syscall(SYS_close_range, ~0U, ~0U, 0) == 0;
}

}  // namespace

Result<KernelSupport> probe() {
  GUARD_ASSIGN(const std::optional<int> lowered, lowered_abi());
  KernelSupport kernel;
  const int abi = landlock::abi_version();
  kernel.landlock_off_at_boot = abi == -EOPNOTSUPP;
  kernel.landlock_abi_kernel = std::max(abi, 0);
  kernel.landlock_abi = std::min(kernel.landlock_abi_kernel, kNewestLandlockAbi);
  if (lowered) kernel.landlock_abi = std::min(kernel.landlock_abi, *lowered);
  if (kernel.landlock_abi_kernel >= 7) kernel.landlock_errata = landlock::errata();
  kernel.seccomp_filter = has_seccomp_filter();
  kernel.pidfd = has_pidfd();
  kernel.close_range = has_close_range();
  utsname name{};
  if (::uname(&name) == 0) kernel.release = name.release;
  return kernel;
}

}  // namespace guard::sandbox
