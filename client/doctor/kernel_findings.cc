#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "client/doctor/findings.h"

namespace guard::doctor {
namespace {

constexpr const char* kLandlockCalls =
    "landlock_create_ruleset, landlock_add_rule and landlock_restrict_self";

// "6.18.44-x" → {6, 18}; {0, 0} for what says nothing.
std::pair<int, int> release_of(std::string_view text) {
  int major = 0, minor = 0;
  const char* const end = text.data() + text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` goes with it
  const auto dot = std::from_chars(text.data(), end, major);
  if (dot.ec != std::errc{} || dot.ptr == end || *dot.ptr != '.') return {0, 0};
  if (std::from_chars(dot.ptr + 1, end, minor).ec != std::errc{}) return {0, 0};
  return {major, minor};
}

bool older_than_landlock(const KernelFacts& kernel) {
  return release_of(kernel.support.release) < std::pair(5, 13);
}

Finding kernel(const Facts& facts) {
  const std::string text = "Linux " + facts.kernel.support.release;
  switch (machine_of(facts.kernel)) {
    case Machine::kWsl1:
      return {"kernel", Level::kProblem,
              text + ": WSL 1, which imitates Linux and has neither Landlock nor seccomp filters",
              "change the distribution to WSL 2, in PowerShell: wsl --set-version NAME 2"};
    case Machine::kGvisor:
      return {"kernel", Level::kProblem,
              text + ": gVisor, which imitates Linux and has no Landlock",
              "run this container with another runtime, such as runc; gVisor confines it already"};
    case Machine::kWsl2:
    case Machine::kPlain:
      break;
  }
  if (older_than_landlock(facts.kernel)) {
    return {"kernel", Level::kProblem, text + ", older than Landlock",
            "boot Linux 5.13 or newer, 6.12 for the most of it"};
  }
  if (machine_of(facts.kernel) == Machine::kWsl2) {
    return {"kernel", Level::kOk, text + " (WSL 2)", ""};
  }
  return {"kernel", Level::kOk, text, ""};
}

// How a container's filter is told to leave Landlock alone.
std::string let_landlock_through(const SurroundingsFacts& surroundings) {
  const std::string container = container_of(surroundings);
  const std::string calls = std::string(kLandlockCalls);
  if (container == "docker" || container == "podman") {
    return "run the container with --security-opt seccomp=PROFILE, of a profile that allows " +
           calls + " (the default profile of Docker 23 and newer does)";
  }
  if (container == "kubernetes") {
    return "give the pod a securityContext.seccompProfile (RuntimeDefault of a newer runtime, or "
           "Localhost) that allows " +
           calls;
  }
  return "let the filter that this process is under allow " + calls;
}

std::string turn_on_at_boot(const Facts& facts) {
  // Order does not matter to Landlock; what is in the list now has to stay in it.
  const std::string list = facts.kernel.lsm.empty() ? "lsm=landlock,… before what it lists now"
                                                    : "lsm=landlock," + facts.kernel.lsm;
  if (machine_of(facts.kernel) == Machine::kWsl2) {
    return "in %UserProfile%\\.wslconfig, below [wsl2]: kernelCommandLine = " + list +
           "; then wsl --shutdown";
  }
  return "boot with " + list + " (in GRUB: GRUB_CMDLINE_LINUX in /etc/default/grub)";
}

Finding no_landlock(const Facts& facts) {
  const KernelFacts& kernel = facts.kernel;
  const auto problem = [](std::string text, std::string fix) {
    return Finding{"landlock", Level::kProblem, std::move(text), std::move(fix)};
  };
  if (kernel.support.landlock_off_at_boot) {
    return problem("Landlock is built in, and off at boot" +
                       (kernel.lsm.empty() ? "" : " (lsm=" + kernel.lsm + ")"),
                   turn_on_at_boot(facts));
  }
  // The kernel itself has no other answers than EOPNOTSUPP and ENOSYS.
  if (kernel.landlock_errno != ENOSYS && kernel.landlock_errno != 0) {
    return problem(fmt::format("Landlock is hidden by a system call filter ({})",
                               std::strerror(kernel.landlock_errno)),
                   let_landlock_through(facts.surroundings));
  }
  if (kernel.landlock_built_in == true) {
    return problem("Landlock is built in, and hidden by a system call filter",
                   let_landlock_through(facts.surroundings));
  }
  if (older_than_landlock(kernel)) {
    return problem("no Landlock: the kernel is older than it", "boot Linux 5.13 or newer");
  }
  if (kernel.landlock_built_in == false || facts.surroundings.seccomp_mode == 0) {
    return problem("Landlock is not built into this kernel",
                   "boot a kernel with CONFIG_SECURITY_LANDLOCK=y, as distributions' are");
  }
  return problem("no Landlock: not built in, or hidden by the filter that this process is under",
                 let_landlock_through(facts.surroundings));
}

Finding landlock(const Facts& facts) {
  const sandbox::KernelSupport& kernel = facts.kernel.support;
  if (kernel.landlock_abi_kernel == 0) return no_landlock(facts);
  if (kernel.landlock_abi < std::min(kernel.landlock_abi_kernel, sandbox::kNewestLandlockAbi)) {
    return {"landlock", Level::kWarning,
            fmt::format("Landlock ABI {}, lowered from {} by GUARD_LANDLOCK_ABI_MAX",
                        kernel.landlock_abi, kernel.landlock_abi_kernel),
            "unset GUARD_LANDLOCK_ABI_MAX"};
  }
  return {"landlock", Level::kOk, fmt::format("Landlock ABI {}", kernel.landlock_abi_kernel), ""};
}

constexpr std::array kErrata = {"TCP sockets told from MPTCP and SMC", "signals between threads",
                                "folders moved out of a mount"};

// Told from ABI 7 on, where the kernel can be asked.
void add_errata(const Facts& facts, Findings& found) {
  const sandbox::KernelSupport& kernel = facts.kernel.support;
  if (kernel.landlock_abi_kernel < 7) return;
  std::string lacking;
  for (std::size_t i = 0; i < kErrata.size(); ++i) {
    if ((kernel.landlock_errata >> i & 1) != 0) continue;
    lacking += fmt::format("{}{} ({})", lacking.empty() ? "" : ", ", i + 1, kErrata[i]);
  }
  if (lacking.empty()) {
    found.push_back({"landlock_errata", Level::kOk, "errata 1 to 3 of Landlock are fixed", ""});
    return;
  }
  found.push_back({"landlock_errata", Level::kNote,
                   "errata of Landlock that are not fixed: " + lacking,
                   "boot a newer kernel of the same series"});
}

Finding seccomp(const KernelFacts& kernel) {
  if (kernel.support.seccomp_filter) {
    return {"seccomp", Level::kOk, "seccomp filters can be loaded", ""};
  }
  return {"seccomp", Level::kProblem, "seccomp filters cannot be loaded",
          "boot a kernel with CONFIG_SECCOMP_FILTER=y; in a container, let its profile allow "
          "seccomp(2)"};
}

Finding user_notification(const KernelFacts& kernel) {
  if (kernel.user_notification) {
    return {"user_notification", Level::kOk, "seccomp user notification is there", ""};
  }
  if (kernel.support.landlock_abi >= 6) {
    return {"user_notification", Level::kNote,
            "no seccomp user notification; with Landlock ABI 6 runs end without it", ""};
  }
  return {"user_notification", Level::kWarning,
          "no seccomp user notification: without a delegated cgroup, what a run leaves is hunted",
          "boot Linux 6.12 or newer, or let the filter that this process is under allow it"};
}

Finding no_new_privs(const KernelFacts& kernel) {
  if (kernel.no_new_privs) return {"no_new_privs", Level::kOk, "NO_NEW_PRIVS can be set", ""};
  return {"no_new_privs", Level::kProblem, "NO_NEW_PRIVS cannot be set",
          "let the filter that this process is under allow prctl(PR_SET_NO_NEW_PRIVS)"};
}

Finding ptrace_scope(const KernelFacts& kernel) {
  const std::string id = "ptrace_scope";
  if (!kernel.ptrace_scope) return {id, Level::kOk, "no Yama: ptrace is not restricted", ""};
  const int scope = *kernel.ptrace_scope;
  if (scope <= 1) return {id, Level::kOk, fmt::format("Yama ptrace_scope is {}", scope), ""};
  return {id, Level::kNote,
          fmt::format("Yama ptrace_scope is {}: debuggers do not work, in runs with --allow-ptrace "
                      "neither",
                      scope),
          scope == 2 ? "as root: sysctl kernel.yama.ptrace_scope=1"
                     : "boot with kernel.yama.ptrace_scope=1 in /etc/sysctl.d; 3 stays until then"};
}

Finding pidfd(const KernelFacts& kernel) {
  if (kernel.support.pidfd) {
    return {"pidfd", Level::kOk, "processes can be held by descriptor (pidfd)", ""};
  }
  // Without the scopes of ABI 6 a tree is killed process by process, each held by its descriptor.
  const bool needed = kernel.support.landlock_abi < 6;
  return {"pidfd", needed ? Level::kProblem : Level::kWarning,
          needed ? "pidfd_open(2) is refused: what outlives a program is not killed"
                 : "pidfd_open(2) is refused: guardctl daemon stop does not work",
          "let the filter that this process is under allow pidfd_open and pidfd_send_signal"};
}

Finding peer_pidfd(const KernelFacts& kernel) {
  if (kernel.peer_pidfd) {
    return {"peer_pidfd", Level::kOk, "callers of guardd are pinned by descriptor (SO_PEERPIDFD)",
            ""};
  }
  return {"peer_pidfd", Level::kNote,
          "no SO_PEERPIDFD (Linux 6.5): calls of guardd carry a cookie in its place",
          "boot Linux 6.5 or newer"};
}

}  // namespace

Findings kernel_findings(const Facts& facts) {
  if (facts.kernel.not_probed) {
    return {{"kernel", Level::kProblem, facts.kernel.not_probed->message(),
             facts.kernel.not_probed->hint}};
  }
  Findings found{kernel(facts), landlock(facts)};
  add_errata(facts, found);
  for (auto* finding :
       {seccomp, user_notification, no_new_privs, ptrace_scope, pidfd, peer_pidfd}) {
    found.push_back(finding(facts.kernel));
  }
  return found;
}

}  // namespace guard::doctor
