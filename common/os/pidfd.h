// A process that stays the same process: pidfd_open(2), Linux 5.3. The descriptor polls readable
// when the process has ended (a zombie too), and never comes to mean another after the number is
// reused.
#pragma once

#include <sys/types.h>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::os {

// kNotFound-like (os_errno ESRCH) when there is none. The number must be known to be still the
// process that is meant: a child not yet reaped, or one whose start time is compared afterwards.
Result<UniqueFd> pidfd_open(pid_t pid);

// pidfd_send_signal(2), 5.1. os_errno ESRCH once it has been reaped.
Result<> pidfd_signal(int pidfd, int signal);

// Whether the process has ended; does not wait.
bool pidfd_ended(int pidfd);

}  // namespace guard::os
