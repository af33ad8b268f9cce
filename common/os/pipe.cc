#include "common/os/pipe.h"

#include <fcntl.h>
#include <unistd.h>

namespace guard::os {

Result<Pipe> make_pipe(int flags) {
  int ends[2];
  if (::pipe2(ends, flags | O_CLOEXEC) < 0) return os_failure("pipe2");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace guard::os
