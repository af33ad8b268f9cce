// What guardd does to its own process before it does anything else.
#pragma once

#include <sys/resource.h>

#include <initializer_list>

#include "common/base/result.h"

namespace guard::daemon {

// kDenied when it is run setuid or setgid: it acts for the user who started it, with that user's
// own rights.
Result<> refuse_setuid();

// Standard descriptors exist (/dev/null where one is missing), nothing above them but `kept`
// (negative: none) is inherited, the working directory is "/" and pins no file system, files are
// private, SIGPIPE is ignored (a client that goes away is an error value), orphans of a lost
// launcher come to us.
//
// PR_SET_DUMPABLE stays as it is: a run cannot read guardd, its Landlock domain sees to that, and
// without it /proc/self would belong to root.
Result<> tidy_process(std::initializer_list<int> kept);

// The limit as it was: what the launcher and every run start with. Ours is raised to the hard one:
// each run takes up to five descriptors.
rlimit raise_open_files();

}  // namespace guard::daemon
