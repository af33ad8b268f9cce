// The system base: what every program may reach unless --no-default-grants says otherwise.
//
// Enough for the programs of a distribution to start and do ordinary work, and nothing of the
// user's. Every entry is optional: what a machine does not have is no error and shows as skipped.
// Deliberately absent: the rest of /etc, $HOME, /tmp, /dev/shm (the private TMPDIR takes their
// place), /dev/pts (every terminal of the user), /proc/<pid> (command lines of everybody), /run.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/sandbox/policy.h"

namespace guard::sandbox {

struct BasePath {
  std::string_view path;
  Access access;
  std::string_view reason;
};

std::span<const BasePath> system_base();

// The same as grants of Origin::kBase.
std::vector<PathGrant> base_grants();

}  // namespace guard::sandbox
