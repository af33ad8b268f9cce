// The part of the policy that depends on arguments. Internal to the module: syscall_sets.h has all
// of it.
#pragma once

#include <vector>

#include "common/sandbox/seccomp/syscall_sets.h"

namespace guard::seccomp {

// For every architecture; rules() leaves out what `spec.arch` lacks.
std::vector<Rule> argument_rules(const FilterSpec& spec);

}  // namespace guard::seccomp
