#include "common/supervise/warden.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/check.h"
#include "common/os/descriptors.h"
#include "common/os/seqpacket.h"

namespace guard::supervise {
namespace {

// One stroke is exact; the others are for a kernel that is not.
constexpr int kStrokes = 3;
constexpr timespec kBetweenStrokes{.tv_sec = 0, .tv_nsec = 2'000'000};

[[noreturn]] void sleep_until_alone(const KillScope& scope, int tie, int lifeline) {
  ::prctl(PR_SET_NAME, "guard-warden");
  // Not so much as the monitor's end of the tie may stay open here.
  if (!os::close_all_but({0, 1, 2, tie, lifeline})) ::_exit(1);
  // Nothing is ever read from the tie: what lies in it are descriptors, closed with us. Asking for
  // no event leaves POLLHUP, and no wake-up when they arrive.
  pollfd monitor_gone{.fd = tie, .events = 0, .revents = 0};
  while (::poll(&monitor_gone, 1, -1) < 0 && errno == EINTR) {
  }
  for (int stroke = 0; stroke < kStrokes; ++stroke) {
    if (stroke > 0) ::nanosleep(&kBetweenStrokes, nullptr);
    scope.signal_all(SIGKILL);
  }
  ::_exit(0);
}

}  // namespace

Result<Warden> start_warden(const KillScope& scope, int lifeline) {
  GUARD_CHECK(scope.proven());
  GUARD_ASSIGN(auto ends, os::seqpacket_pair());
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, kWardenEndSignal, 0, 0, 0, 0));
  if (pid < 0) return os_failure("clone");
  if (pid == 0) sleep_until_alone(scope, ends.second.get(), lifeline);
  return Warden{.pid = pid, .tie = std::move(ends.first)};
}

void tie_to_warden(const Warden& warden, int fd) {
  const int fds[] = {fd};
  (void)os::send_packet(warden.tie.get(), "f", fds, true);  // a dead warden: nothing to tie to
}

}  // namespace guard::supervise
