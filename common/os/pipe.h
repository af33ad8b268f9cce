// pipe2(2), close-on-exec on both ends.
#pragma once

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::os {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

// `flags`: O_NONBLOCK (both ends), O_DIRECT. kExhausted when descriptors or the user's pipe pages
// are used up.
Result<Pipe> make_pipe(int flags = 0);

}  // namespace guard::os
