// guard.v1.Policy ⇄ sandbox::Policy.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/sandbox/policy.h"
#include "guard/v1/policy.pb.h"

namespace guard::wire {

// A policy that cannot be wrong by itself. `field` is its name in the request, for errors:
// kInvalid for what contradicts itself, kUnimplemented for what this guardd cannot honour. Paths
// come in the order allow_read, allow_write, all Origin::kAsked.
Result<sandbox::Policy> policy_from(const v1::Policy& message, std::string_view field = "policy");

// Grants of other origins than kAsked are guardd's to add and are left out.
v1::Policy to_proto(const sandbox::Policy& policy);

Result<sandbox::Level> level_from(std::string_view field, v1::Level level);
v1::Level to_proto(sandbox::Level level);

}  // namespace guard::wire
