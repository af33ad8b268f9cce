// One run as asked for: a value, already parsed into types that cannot be wrong.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/sandbox/policy.h"

namespace guard::run {

struct EnvVar {
  std::string name;  // not empty, no '=', no NUL
  std::string value;
  friend bool operator==(const EnvVar&, const EnvVar&) = default;
};

// execve(2)'s own limits, told by name before anything is forked.
inline constexpr std::size_t kMaxArgBytes = 131'071;     // one string, MAX_ARG_STRLEN - 1
inline constexpr std::size_t kMaxTotalBytes = 2u << 20;  // argv and environment together
inline constexpr std::size_t kMaxArgs = 65'536;
inline constexpr std::chrono::milliseconds kDefaultGrace{250};
inline constexpr std::chrono::milliseconds kMaxGrace{60'000};

struct Spec {
  std::string run_id;                 // empty: guardd makes one
  std::vector<std::string> argv;      // argv[0] is the program; any bytes but NUL
  std::vector<EnvVar> env;            // the whole environment, but for what guardd adds
  std::vector<std::string> keep_env;  // names that stay as `env` has them (or has them not): HOME…
  std::string cwd = "/";              // absolute
  std::string cwd_grant;              // granted read with Origin::kCwd; empty: none
  sandbox::Policy policy;             // wall limit is policy.limits.wall
  std::chrono::milliseconds grace = kDefaultGrace;
  mode_t umask = 022;
  std::uint32_t env_withheld = 0;
  friend bool operator==(const Spec&, const Spec&) = default;
};

// [A-Za-z0-9][A-Za-z0-9._-]{0,127}
bool is_run_id(std::string_view text);

// First thing wrong; kInvalid, names the field ("args[3] is 131,080 bytes; …").
Result<> validate(const Spec& spec);

// The files that execvp(3)'s rules try, in order: argv[0] itself when it has a slash, else each
// entry of `path_variable` (empty entry: the working directory) joined with it.
std::vector<std::string> exec_candidates(std::string_view program, std::string_view path_variable);

// PATH when the caller sends none.
inline constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

}  // namespace guard::run
