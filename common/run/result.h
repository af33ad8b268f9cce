// How a run ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/sandbox/enforce.h"
#include "common/sandbox/report.h"

namespace guard::run {

enum class Reason : std::uint8_t {
  kExited,
  kSignaled,  // by a signal that was not ours
  kTimeout,
  kCancelled,
  kOutputLimit,
  kCpuLimit,
  kMemoryLimit,
  kOomKilled,
  kPolicyViolation,
  kSpawnFailed,
  kSupervisorLost,
  kDaemonShutdown,
};
std::string_view name_of(Reason reason);  // "EXITED", …

struct Exited {
  int code = 0;  // 0..255
  friend bool operator==(const Exited&, const Exited&) = default;
};
struct Signaled {
  int signal = 0;
  friend bool operator==(const Signaled&, const Signaled&) = default;
};
struct SpawnError {
  sandbox::Stage stage = sandbox::Stage::kNone;
  int os_errno = 0;
  std::string path;     // the program or directory in question
  std::string message;  // a clause for a person
  std::string hint;
  friend bool operator==(const SpawnError&, const SpawnError&) = default;
};

struct Usage {
  std::chrono::microseconds wall{0}, user{0}, system{0};
  std::uint64_t max_rss_bytes = 0;  // of the largest process
  friend bool operator==(const Usage&, const Usage&) = default;
};

enum class Stream : std::uint8_t { kStdout = 1, kStderr = 2, kResult = 3 };

struct StreamTotal {
  Stream stream = Stream::kStdout;
  std::uint64_t bytes = 0;
  bool truncated = false;
  friend bool operator==(const StreamTotal&, const StreamTotal&) = default;
};

struct RunResult {
  std::variant<Exited, Signaled, SpawnError> ending;
  Reason reason = Reason::kExited;
  Usage usage;
  std::vector<StreamTotal> streams;
  std::uint32_t killed = 0;            // outlived the program and were killed
  std::uint32_t stragglers = 0;        // killed, not seen to end within 5 s
  std::vector<std::string> discarded;  // top-level entries of the private HOME and TMPDIR, <= 20
  std::string detail;
  friend bool operator==(const RunResult&, const RunResult&) = default;
};

// "setup", "limits", "capabilities", "no_new_privs", "landlock", "seccomp", "witness", "exec".
std::string_view name_of(sandbox::Stage stage);
std::optional<sandbox::Stage> stage_named(std::string_view name);

// How the exec of a candidate list failed, in words and with the hint that helps; shared by the
// one-shot and guardd. `message` and `hint` are filled from stage, errno and path: the program, or
// for kSetup the working directory. Looks at the file that `path` names, to tell a program that is
// not there from one whose interpreter is not. With a `report`, its grants say which piece of the
// program (itself, its interpreter, that one's loader) was refused; without, it is a guess and
// worded as one.
SpawnError explain_spawn(sandbox::Stage stage, int os_errno, std::uint8_t axis, std::string path,
                         const sandbox::Report* report = nullptr);

// The folder to grant so that a program can be executed and finds what lies beside it: for
// PREFIX/bin/x and PREFIX/sbin/x the PREFIX (unless that is "/"), else the program itself.
// `resolved`: absolute, symbolic links followed.
std::string prefix_to_grant(std::string_view resolved);

}  // namespace guard::run
