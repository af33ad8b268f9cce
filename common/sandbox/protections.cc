#include "common/sandbox/protections.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace guard::sandbox {
namespace {

constexpr std::array kKernels = {"",     "5.13", "5.19", "6.2", "6.7", "6.10",
                                 "6.12", "6.15", "7.0",  "7.1", "7.2", "7.3"};

ProtectionLine enforced(Protection protection, std::string by) {
  return {protection, Status::kEnforced, std::move(by), {}};
}
ProtectionLine weakened(Protection protection, std::string by, std::string why) {
  return {protection, Status::kWeakened, std::move(by), std::move(why)};
}
ProtectionLine missing(Protection protection, std::string why) {
  return {protection, Status::kMissing, {}, std::move(why)};
}
ProtectionLine not_asked(Protection protection, std::string why) {
  return {protection, Status::kNotAsked, {}, std::move(why)};
}

// "6.18.44-x" is. What says nothing is old.
bool is_since_5_13(std::string_view release) {
  int major = 0, minor = 0;
  const char* const end = release.data() + release.size();
  const auto dot = std::from_chars(release.data(), end, major);
  if (dot.ec != std::errc{} || dot.ptr == end || *dot.ptr != '.') return false;
  if (std::from_chars(dot.ptr + 1, end, minor).ec != std::errc{}) return false;
  return major > 5 || (major == 5 && minor >= 13);
}

std::string no_landlock(const KernelSupport& kernel) {
  if (kernel.landlock_abi_kernel > 0) return "Landlock was lowered to none";
  if (kernel.landlock_off_at_boot) return "Landlock is off at boot: add landlock to lsm=";
  if (is_since_5_13(kernel.release)) {
    return "Landlock is not built in, or a container's system call filter hides it";
  }
  return "this kernel has no Landlock; " + kernel_with_abi(1) + " has it";
}

std::string needs(int abi, std::string what) {
  return std::move(what) + "; " + kernel_with_abi(abi) + " refuses it";
}

class Verdicts {
 public:
  Verdicts(const Policy& policy, const KernelSupport& kernel, Supervision supervision)
      : policy_(policy), kernel_(kernel), supervision_(supervision), abi_(kernel.landlock_abi) {}

  ProtectionLine of(Protection protection) const {
    switch (protection) {
      case Protection::kNoNewPrivs:
        return enforced(protection, "prctl");
      case Protection::kFileAccess:
        return abi_ >= 1 ? enforced(protection, "landlock")
                         : missing(protection, no_landlock(kernel_));
      case Protection::kTruncate:
        return truncate();
      case Protection::kDeviceIoctl:
        return device_ioctl();
      case Protection::kNetwork:
        return network();
      case Protection::kUnixSockets:
        return by_filter(protection, abi_ >= 9 ? "seccomp, landlock" : "seccomp");
      case Protection::kSignals:
        return signals();
      case Protection::kProcesses:
        return processes();
      case Protection::kSyscallFilter:
        return by_filter(protection, "seccomp");
      case Protection::kDescriptors:
        return enforced(protection, kernel_.close_range ? "close_range" : "close");
      case Protection::kTreeKill:
        return tree_kill();
    }
    std::unreachable();
  }

 private:
  ProtectionLine by_filter(Protection protection, std::string by) const {
    if (kernel_.seccomp_filter) return enforced(protection, std::move(by));
    return missing(protection, "this kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)");
  }

  ProtectionLine truncate() const {
    constexpr Protection kThis = Protection::kTruncate;
    if (abi_ >= 3) return enforced(kThis, "landlock");
    if (abi_ < 1) return missing(kThis, no_landlock(kernel_));
    return by_filter(kThis, "seccomp stand-in");
  }

  ProtectionLine device_ioctl() const {
    constexpr Protection kThis = Protection::kDeviceIoctl;
    if (abi_ >= 5) return enforced(kThis, "landlock");
    if (abi_ < 1) return missing(kThis, no_landlock(kernel_));
    return weakened(kThis, "seccomp", needs(5, "most ioctls of granted devices are not checked"));
  }

  ProtectionLine network() const {
    constexpr Protection kThis = Protection::kNetwork;
    if (policy_.allow_connect.empty() && policy_.allow_bind.empty()) {
      return by_filter(kThis, "seccomp");
    }
    if (abi_ >= 4) return by_filter(kThis, "landlock, seccomp");
    if (!kernel_.seccomp_filter) return by_filter(kThis, "");
    return weakened(kThis, "seccomp", needs(4, "TCP to and from any port is open"));
  }

  ProtectionLine signals() const {
    constexpr Protection kThis = Protection::kSignals;
    if (abi_ >= 6) return enforced(kThis, "landlock");
    return weakened(
        kThis, "seccomp",
        needs(6, "kill(-1) is refused, a signal to a single process of this user is not"));
  }

  ProtectionLine processes() const {
    constexpr Protection kThis = Protection::kProcesses;
    if (abi_ >= 1) return by_filter(kThis, "seccomp, landlock");
    if (policy_.allow_ptrace) return missing(kThis, no_landlock(kernel_));
    return by_filter(kThis, "seccomp");
  }

  ProtectionLine tree_kill() const {
    constexpr Protection kThis = Protection::kTreeKill;
    if (supervision_ == Supervision::kNone) {
      return not_asked(kThis, "nobody stays behind to kill what outlives the program");
    }
    if (abi_ >= 6) return enforced(kThis, "landlock");
    // What else a run can get is known when it has started (daemon/runs/tree_kill_line.h).
    return weakened(kThis, "sweeps of /proc",
                    "a program that forks fast is hunted, not cut off at once; " +
                        kernel_with_abi(6) + " does that");
  }

  const Policy& policy_;
  const KernelSupport& kernel_;
  Supervision supervision_;
  int abi_;
};

}  // namespace

std::string kernel_with_abi(int abi) {
  return "Linux " + std::string(kKernels.at(static_cast<std::size_t>(abi))) + " (Landlock ABI " +
         std::to_string(abi) + ")";
}

std::vector<ProtectionLine> protections_of(const Policy& policy, const KernelSupport& kernel,
                                           Supervision supervision) {
  std::vector<ProtectionLine> lines;
  const Verdicts verdicts(policy, kernel, supervision);
  for (auto p = Protection::kNoNewPrivs;; p = static_cast<Protection>(std::to_underlying(p) + 1)) {
    lines.push_back(policy.level == Level::kUnsafeNoGuard
                        ? not_asked(p, "--unsafe-no-guard: nothing is put on")
                        : verdicts.of(p));
    if (p == Protection::kTreeKill) return lines;
  }
}

std::vector<std::string> ungoverned_by(const Policy& policy, const KernelSupport& kernel,
                                       Supervision supervision) {
  if (policy.level == Level::kUnsafeNoGuard) return {"everything: no sandbox is put on"};
  std::vector<std::string> open = {
      "mode, owner, times and extended attributes of this user's files, outside the grants too "
      "(chmod, chown, utime, setxattr); setuid and setgid bits are refused",
      "names and facts of files outside the grants (stat, readlink, getxattr, inotify), not their "
      "content",
      "flock on files that are readable",
      "what is readable can be executed (through the dynamic linker, an interpreter, memory); "
      "execution is no boundary",
      "files left in a writable folder that somebody runs later (git hooks, Makefiles, settings)",
      "memory, disk space and processor time, but for the limits asked",
      "that other processes exist",
      "defects of the kernel in the system calls that remain",
  };
  if (!policy.allow_connect.empty()) open.push_back("connections to a granted port of any host");
  if (!policy.allow_bind.empty()) {
    open.push_back("listening without bind(2), on a port that the kernel chooses");
  }
  if (kernel.landlock_abi < 6) {
    open.push_back("signals to a single process of this user");
  }
  if (supervision == Supervision::kNone) {
    open.push_back(
        "processes that outlive the program: nobody stays behind to kill them (guardctl "
        "run does)");
    open.push_back("the terminal that it was started from: typing and screen are shared with it");
    if (policy.allow_tty_modes) open.push_back("the modes of that terminal (--allow-tty-modes)");
  }
  return open;
}

}  // namespace guard::sandbox
