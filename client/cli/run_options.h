// The command lines of `guardctl run` and `guardctl check` as values, and the run that they ask
// for.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/run/spec.h"
#include "common/sandbox/policy_flags.h"

namespace guard::client {

struct RunOptions {
  sandbox::PolicyRequest request;
  std::vector<std::string> command;  // what follows `--`
  std::optional<std::chrono::milliseconds> timeout;
  std::chrono::milliseconds grace = run::kDefaultGrace;
  std::string run_id;                 // empty: one is made up
  std::optional<std::string> socket;  // --socket; unset: not given
  bool json = false;
  bool verbose = false;
  bool relay_stdin = true;
  bool help = false;  // nothing else counts then
  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

enum class RunVerb : std::uint8_t { kRun, kCheck };

// Flags beside those of the policy (common/sandbox/policy_flags.h).
std::span<const sandbox::FlagRow> run_flag_table(RunVerb verb);

// `arguments`: what follows the verb. `cwd` as PolicyFlags takes it. kInvalid with a hint.
Result<RunOptions> parse_run_options(RunVerb verb, std::span<const std::string> arguments,
                                     const std::string& cwd);

// What the run inherits from whoever types the command.
struct Caller {
  std::vector<std::string> environment;
  std::string cwd;  // absolute; empty: it was removed
  unsigned umask = 022;
};

struct RunPlan {
  run::Spec spec;
  std::vector<std::string> notes;  // what was not done as one might expect
};

// A sound run: validated, its paths absolute, its environment chosen. kInvalid names the flag or
// the argument. Looks at the file system for symbolic links only.
Result<RunPlan> plan_run(const RunOptions& options, const Caller& caller);

}  // namespace guard::client
