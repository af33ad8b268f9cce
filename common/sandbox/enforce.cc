#include "common/sandbox/enforce.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>

#include "common/os/raw_syscall.h"
#include "common/sandbox/capabilities.h"
#include "common/sandbox/landlock/ruleset.h"
#include "common/sandbox/witness.h"

namespace guard::sandbox {
namespace {

using os::raw_syscall;

// struct rlimit64 of the kernel.
struct KernelLimit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

// Hard = soft, so that the program cannot raise it. A caller whose own limit is lower keeps that.
int set_limit(const Limit& limit) noexcept {
  KernelLimit now;
  const long got = raw_syscall(SYS_prlimit64, 0, limit.resource, 0, &now);
  if (got < 0) return static_cast<int>(-got);
  const std::uint64_t value = limit.value < now.hard ? limit.value : now.hard;
  const KernelLimit wanted{value, value};
  return static_cast<int>(-raw_syscall(SYS_prlimit64, 0, limit.resource, &wanted, 0));
}

int set_limits(const Orders& orders) noexcept {
  for (std::size_t i = 0; i < orders.limit_count; ++i) {
    if (const int error = set_limit(orders.limits[i]); error != 0) return error;
  }
  return 0;
}

int load_filter(const Orders& orders) noexcept {
  // The kernel reads it and keeps a copy.
  const sock_fprog program{orders.filter_length, const_cast<sock_filter*>(orders.filter)};
  return static_cast<int>(-raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

}  // namespace

Outcome enforce(const Orders& orders) noexcept {
  if (!orders.confine) return {};
  if (const int error = set_limits(orders); error != 0) return {Stage::kLimits, error, 0};
  if (orders.drop_capabilities) {
    if (const int error = drop_capabilities(); error != 0) return {Stage::kCapabilities, error, 0};
  }
  if (const long result = raw_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); result < 0) {
    return {Stage::kNoNewPrivs, static_cast<int>(-result), 0};
  }
  if (const int result = landlock::restrict_self(orders.ruleset_fd); result < 0) {
    return {Stage::kLandlock, -result, 0};
  }
  if (const int error = load_filter(orders); error != 0) return {Stage::kSeccomp, error, 0};
  if (const WitnessAxis axis = witness(orders); axis != WitnessAxis::kNone) {
    return {Stage::kWitness, 0, static_cast<std::uint8_t>(axis)};
  }
  return {};
}

}  // namespace guard::sandbox
