// The environment of a run: what the request says, and the few variables that guardd decides.
#pragma once

#include <string>
#include <vector>

#include "common/run/spec.h"

namespace guard::daemon {

// Which of a run's variables guardd gives a private folder to. With no_default_grants it is none of
// them; HOME stays with real_home; either stays when `keep_env` names it.
struct PrivateVariables {
  bool home = false;
  bool tmp = false;
  bool any() const { return home || tmp; }
  friend bool operator==(const PrivateVariables&, const PrivateVariables&) = default;
};
PrivateVariables private_variables(const run::Spec& spec);

// "NAME=value" in the order of the request: without what never passes
// (common/sandbox/environment.h), with `home` and `tmp` (not empty: given) in place of HOME and
// TMPDIR, with the shared-memory `shim` (empty: none) in `tmp`, with a default PATH when there is
// none and it is not kept that way. An LD_PRELOAD of the request's own wins over the shim.
std::vector<std::string> environment_of(const run::Spec& spec, const std::string& home,
                                        const std::string& tmp, const std::string& shim = {});

}  // namespace guard::daemon
