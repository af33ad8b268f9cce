// What a sandboxed process may do.
//
// A Policy is a plain value: copy it, compare it, print it, send it. It names no descriptor and
// knows nothing about this machine. resolve() (grants.h) opens what it names, compile() (compile.h)
// meets it with the running kernel and reports what will and will not be enforced.
//
// Kernel facts its shape rests on (landlock(7), seccomp(2)):
//  - A Landlock rule grants a whole subtree. A deeper rule adds rights and never takes one away, so
//    this is an allow list: there is no deny list here.
//  - Below Landlock ABI 9, connecting to a socket file is not a file-system right, so AF_UNIX
//    sockets are refused in seccomp whatever the path grants are.
//  - TCP rules know ports, not hosts. A port grant is to any host, and the report says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace guard::sandbox {

enum class Access : std::uint8_t {
  kRead,   // read, list and execute below the path
  kWrite,  // kRead, and write, create, remove, rename, truncate
};

// Why a grant is there; the report groups by it.
enum class Origin : std::uint8_t {
  kAsked,    // a flag, a field of the request
  kCwd,      // the command line's read grant on its working directory
  kBase,     // the system base (presets.h)
  kPrivate,  // the run's own HOME and TMPDIR
};

struct PathGrant {
  std::string path;  // any bytes but NUL, not empty; absolute once it reaches resolve()
  Access access = Access::kRead;
  bool optional = false;  // true: a missing path is skipped and shows in the report
  Origin origin = Origin::kAsked;
  // Rights of a device file of the base: IOCTL_DEV too (terminal ioctls on /dev/tty).
  friend bool operator==(const PathGrant&, const PathGrant&) = default;
};

// When the kernel lacks something that the policy needs.
enum class Level : std::uint8_t {
  kDefault,        // the core must be enforced by some layer, the rest may be weakened
  kStrict,         // everything, or refuse
  kBestEffort,     // file access, NO_NEW_PRIVS and the filter, or refuse
  kUnsafeNoGuard,  // nothing is put on; the report says so
};

// Per process unless it says otherwise. Unset: no limit of ours.
struct Limits {
  std::optional<std::chrono::milliseconds> wall;  // from exec to SIGTERM, of the run; > 0
  std::optional<std::chrono::seconds> cpu;        // RLIMIT_CPU; > 0
  std::optional<std::uint64_t> memory_bytes;      // RLIMIT_AS; > 0
  std::optional<std::uint64_t> processes;         // RLIMIT_NPROC; counts the user's, not the run's
  std::optional<std::uint64_t> file_size_bytes;   // RLIMIT_FSIZE
  std::optional<std::uint64_t> open_files;        // RLIMIT_NOFILE; >= 3
  std::optional<std::uint64_t> output_bytes;      // of the run, per stream; kills when passed
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct Policy {
  std::vector<PathGrant> paths;
  bool default_grants = true;  // the system base of presets.h, a private HOME and TMPDIR
  bool real_home = false;      // HOME stays the user's (it is not granted by that)
  std::vector<std::uint16_t> allow_connect;  // TCP ports 1..65535, any host
  std::vector<std::uint16_t> allow_bind;     // TCP ports; 0 is "a free port of the kernel's choice"
  bool allow_ptrace = false;  // ptrace(2) inside the run (Landlock confines it there)
  // Change the modes of the caller's own terminal (editors, full-screen programs, readline). Only
  // the one-shot shares one, and it leaves nobody behind to put them back.
  bool allow_tty_modes = false;
  Level level = Level::kDefault;
  Limits limits;
  friend bool operator==(const Policy&, const Policy&) = default;
};

// First thing wrong with the policy by itself, in the order a reader meets it: an empty path, a NUL
// in a path, a path that is not absolute, a duplicate of another kind (port 0 in allow_connect), a
// limit of zero. kInvalid; `what` names the field and the value.
Result<> validate(const Policy& policy);

}  // namespace guard::sandbox
