// Where guard-launcher may be: what guardd starts, and what `guardctl doctor` looks for.
#pragma once

#include <array>
#include <string>

namespace guard::supervise {

// In order, for a guardd in `folder`.
inline std::array<std::string, 2> launcher_candidates(const std::string& folder) {
  return {folder + "/guard-launcher", folder + "/../libexec/guardd/guard-launcher"};
}

}  // namespace guard::supervise
