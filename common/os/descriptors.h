// What a process that was forked off keeps open.
#pragma once

#include <vector>

#include "common/base/result.h"

namespace guard::os {

// Closes every descriptor but these (any order; negative ones are ignored): close_range(2), Linux
// 5.9. For a process with one thread, right after fork(2) or at the top of main.
Result<> close_all_but(std::vector<int> kept);

}  // namespace guard::os
