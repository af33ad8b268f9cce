// The policy summary: what was asked, and what this kernel makes of it. Honest in every line.
//
// A Report is a value; it is shown by xenarch-guard on stderr (report_text.h), sent by guardd as
// guard.v1.Report and printed as JSON. Nothing in it is guessed: compile() fills it from the same
// decisions it writes into the Plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/sandbox/policy.h"

namespace guard::sandbox {

enum class Status : std::uint8_t {
  kEnforced,
  kWeakened,  // partly: `why` says what is left open
  kMissing,   // not at all: `why` says what lacks
  kNotAsked,  // the policy does not want it (--unsafe-no-guard, --allow-ptrace)
};

enum class Protection : std::uint8_t {
  kNoNewPrivs,     // no setuid, no file capabilities; prctl(2)
  kFileAccess,     // open, exec, list, create, remove, rename, link below the grants only
  kTruncate,       // truncate(2), O_TRUNC
  kDeviceIoctl,    // ioctl(2) on devices outside the base
  kNetwork,        // no socket but what the port grants allow
  kUnixSockets,    // no AF_UNIX socket: not D-Bus, docker, ssh-agent, tmux, guardd
  kSignals,        // no signal to a process outside the run
  kProcesses,      // no ptrace, no reading of another process's memory, limits, scheduling
  kSyscallFilter,  // the deny list; numbers newer than known are refused
  kDescriptors,    // nothing inherited above 2
  kTreeKill,       // nothing of the run outlives it (guardd only; the one-shot leaves nobody)
};
// Stable snake_case name: "no_new_privs", "file_access", …
std::string_view name_of(Protection protection);

struct ProtectionLine {
  Protection protection = Protection::kNoNewPrivs;
  Status status = Status::kMissing;
  std::string by;   // the layer: "landlock", "seccomp", "seccomp stand-in", "prctl", ...
  std::string why;  // empty when enforced in full
  friend bool operator==(const ProtectionLine&, const ProtectionLine&) = default;
};

struct GrantLine {
  std::string path;      // as written
  std::string resolved;  // where it led
  Access access = Access::kRead;
  Origin origin = Origin::kAsked;
  std::string rights;  // "read list execute", "read write" for a device file, …
  bool skipped = false;
  std::string note;  // warning of the grant, or empty
  friend bool operator==(const GrantLine&, const GrantLine&) = default;
};

struct Report {
  Level level = Level::kDefault;
  int landlock_abi = 0;         // used
  int landlock_abi_kernel = 0;  // of the kernel; differs when GUARD_LANDLOCK_ABI_MAX lowered it
  std::string kernel;           // uname -r
  std::vector<ProtectionLine> protections;  // every Protection once, in enum order
  std::vector<GrantLine> grants;            // in the order of the policy, base last
  std::vector<std::uint16_t> connect_ports, bind_ports;
  std::vector<std::string> ungoverned;  // what stays open on this kernel, one clause each
  std::vector<std::string> warnings;  // about the request: "--allow-write /dev grants every device"
  std::uint32_t env_passed = 0;
  std::uint32_t env_withheld = 0;  // of the caller's environment
  std::string private_home;        // the run's HOME, empty when it has none
  bool confined() const { return level != Level::kUnsafeNoGuard; }
  friend bool operator==(const Report&, const Report&) = default;
};

}  // namespace guard::sandbox
