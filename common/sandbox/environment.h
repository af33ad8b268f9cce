// The environment of a run, built from the caller's by an allow list. Pure.
//
// Variables carry secrets (API keys) and instructions to programs (LD_PRELOAD, BASH_ENV,
// NODE_OPTIONS, GIT_*): what is not listed here stays behind, and is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace guard::sandbox {

struct EnvChoice {
  std::string name;                  // not empty, no '=', no NUL
  std::optional<std::string> value;  // unset: the caller's
  friend bool operator==(const EnvChoice&, const EnvChoice&) = default;
};

struct EnvRequest {
  bool inherit = false;            // everything but what never passes
  std::vector<EnvChoice> choices;  // win over all else, the last one of a name counts
  // Set unless a choice names the variable; empty: the caller's HOME and TMPDIR stay.
  std::string private_home, private_tmp;
  std::string shared_memory_shim;  // shared_memory.h; needs private_tmp; empty: none
  friend bool operator==(const EnvRequest&, const EnvRequest&) = default;
};

struct Environment {
  std::vector<std::string> variables;  // "NAME=value", in the caller's order, then what was added
  std::uint32_t passed = 0;            // of the caller's variables
  std::uint32_t withheld = 0;
  std::vector<std::string> not_set;  // --env NAME of a variable that the caller does not have
  friend bool operator==(const Environment&, const Environment&) = default;
};

// `caller` as environ(7) has it; entries without a name are dropped, of two with one name the first
// counts, as for getenv(3).
Environment build_environment(const std::vector<std::string>& caller, const EnvRequest& request);

// PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TERM, …
bool passes_by_default(std::string_view name);
// GUARDD_*, LISTEN_*, NOTIFY_SOCKET: how to reach the daemon or the service manager.
bool never_passes(std::string_view name);

// "NAME" or "NAME=value". kInvalid: no name, a NUL, or a name that never passes.
Result<EnvChoice> parse_env_choice(std::string_view text);

// The value of NAME in a list of "NAME=value"; empty when it is not there.
std::string_view value_of(const std::vector<std::string>& variables, std::string_view name);

}  // namespace guard::sandbox
