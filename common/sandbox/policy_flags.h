// The policy flags of the command-line doors: one table, read by xenarch-guard and guardctl run.
//
//   PolicyFlags flags(cwd);
//   flags.apply("--allow-read", "./data");   // or consume() on a whole command line
//   PolicyRequest request = *flags.finish();
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/sandbox/environment.h"
#include "common/sandbox/policy.h"

namespace guard::sandbox {

struct FlagRow {
  std::string_view name;      // "--allow-read"
  std::string_view argument;  // "PATH"; empty: a switch
  std::string_view help;      // one line or more, for --help
};

std::span<const FlagRow> policy_flag_table();
const FlagRow* find_flag(std::span<const FlagRow> table, std::string_view name);

// A flag that another of our commands has, and what to use here instead: a clause.
struct FlagElsewhere {
  std::string_view name;
  std::string_view hint;
};
std::string_view find_elsewhere(std::span<const FlagElsewhere> table, std::string_view name);

// "--name", "--name=value", or neither.
struct FlagText {
  std::string_view name;  // with its dashes; empty: not a flag
  std::optional<std::string_view> value;
};
FlagText split_flag(std::string_view argument);

// Of a flag that has one value and was given a second time: which of the two was meant is not
// guessed.
std::unexpected<Error> given_twice(std::string_view flag);

// What the flags ask for, made absolute.
struct PolicyRequest {
  Policy policy;
  EnvRequest env;
  std::string directory;  // --cd, absolute; empty: stay
  bool grant_cwd = true;  // --no-cwd says no
  friend bool operator==(const PolicyRequest&, const PolicyRequest&) = default;
};

class PolicyFlags {
 public:
  // Relative paths are relative to `cwd`, where the command was typed, whatever --cd says. Empty:
  // there is no working directory (it was removed), and a relative path is an error.
  explicit PolicyFlags(std::string cwd) : cwd_(std::move(cwd)) {}

  static bool takes(std::string_view flag) {
    return find_flag(policy_flag_table(), flag) != nullptr;
  }

  // kInvalid names the flag and the value, with a hint. `value` must be there exactly when the
  // table has an argument for the flag.
  Result<> apply(std::string_view flag, std::optional<std::string_view> value);

  // When arguments[index] is a policy flag: applies it with its value, "--flag value" or
  // "--flag=value", moves `index` past it and returns true.
  Result<bool> consume(std::span<const std::string> arguments, std::size_t& index);

  // kInvalid names both flags that contradict each other.
  Result<PolicyRequest> finish() const;

 private:
  Result<> add_path(std::string_view flag, std::string_view value, Access access);
  Result<std::string> absolute(std::string_view flag, std::string_view path) const;

  std::string cwd_;
  PolicyRequest request_;
  std::vector<std::string_view> given_;  // names of the table
};

// Grants read on the working directory, as a grant of its own, unless it is "/", `home` or above
// it, below another grant, or was not asked for. Returns a clause that says why it is not readable,
// or empty. `home` and `directory` are canonical; `home` may be empty.
std::string grant_working_directory(PolicyRequest& request, const std::string& directory,
                                    const std::string& home);

}  // namespace guard::sandbox
