// The shared-memory shim (common/shim/shared_memory.c): POSIX shared memory and named semaphores in
// the run's private TMPDIR, without a grant on /dev/shm. A convenience for the program of a run,
// and no protection; it never comes into a process of ours.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/sandbox/policy.h"

namespace guard::sandbox {

// The shim beside the running program, or in ../lib/guardd; empty when it is in neither, as for a
// xenarch-guard that was copied alone: the run then does without.
std::string find_shared_memory_shim();
// The same for a program in `folder`.
std::string find_shared_memory_shim(const std::string& folder);

// The variables that bring it in, NAME and value: LD_PRELOAD and the folder.
std::vector<std::pair<std::string, std::string>> shared_memory_variables(const std::string& shim,
                                                                         const std::string& folder);

// Read on the shim itself, part of the base.
PathGrant shared_memory_grant(const std::string& shim);

}  // namespace guard::sandbox
