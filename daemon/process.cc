#include "daemon/process.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "common/os/descriptors.h"
#include "common/os/sys.h"

namespace guard::daemon {

Result<> refuse_setuid() {
  if (::getauxval(AT_SECURE) == 0 && ::getuid() == ::geteuid() && ::getgid() == ::getegid()) {
    return {};
  }
  return failure(Errc::kDenied, "guardd must not be setuid, setgid or have file capabilities",
                 "each user runs a guardd of his own");
}

Result<> tidy_process(std::initializer_list<int> kept) {
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    GUARD_ASSIGN(os::UniqueFd nothing, os::open("/dev/null", O_RDWR));
    // The lowest free number, which is the missing one; without close-on-exec as its neighbours.
    ::fcntl(nothing.release(), F_SETFD, 0);
  }
  std::vector<int> open = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  for (const int fd : kept) {
    open.push_back(fd);
    if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  GUARD_TRY(os::close_all_but(open));
  if (::chdir("/") != 0) return os_failure("chdir '/'");
  ::umask(077);
  std::signal(SIGPIPE, SIG_IGN);
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return os_failure("PR_SET_CHILD_SUBREAPER");
  return {};
}

rlimit raise_open_files() {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit raised = before;
  raised.rlim_cur = raised.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &raised);
  return before;
}

}  // namespace guard::daemon
