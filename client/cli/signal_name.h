// Signals as people name them.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace guard::client {

// "TERM", "sigterm", "15": 1 to 64. kInvalid otherwise.
Result<int> parse_signal(std::string_view text);

}  // namespace guard::client
