// Which Landlock rights a resolved grant becomes. Pure.
#pragma once

#include <cstdint>

#include "common/sandbox/grants.h"

namespace guard::sandbox {

// Masked to what the inode takes and to what the ruleset handles; 0 when nothing is left.
std::uint64_t rights_of(const ResolvedGrant& grant, std::uint64_t handled_fs);

}  // namespace guard::sandbox
