#include "daemon/launch/orphans.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include <spdlog/spdlog.h>

#include "common/supervise/group_gate.h"
#include "common/supervise/run_cgroup.h"
#include "common/supervise/tree_kill.h"

namespace guard::daemon {
namespace {

using namespace std::chrono_literals;

// A warden kills in a few milliseconds, and better than a sweep does.
constexpr std::chrono::milliseconds kWardenPatience = 200ms;
// A stroke is a walk of /proc, and the loop has other work.
constexpr std::chrono::milliseconds kPause = 5ms;
constexpr int kEnough = 2;

}  // namespace

void Orphans::reap() {
  const auto keepers = keepers_();
  for (;;) {
    siginfo_t next{};
    if (::waitid(P_ALL, 0, &next, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 || next.si_pid == 0)
      return;
    const bool is_orphan =
        keepers && std::find(keepers->begin(), keepers->end(), next.si_pid) == keepers->end();
    // A monitor that has ended may be among them: its group is its warden, who is done.
    if (is_orphan && hunting_) supervise::kill_group_of(next.si_pid);
    (void)::waitpid(next.si_pid, nullptr, __WALL);
  }
}

void Orphans::stop() {
  stopped_ = true;
  hunting_ = false;
  pause_.cancel();
}

void Orphans::hunt(pid_t monitor) {
  if (stopped_) return;
  if (monitor > 0) lost_.push_back(monitor);
  until_ = std::chrono::steady_clock::now() + kBound;
  empty_in_a_row_ = 0;
  if (std::exchange(hunting_, true)) return;
  stroke_after(kWardenPatience);
}

void Orphans::stroke_after(std::chrono::milliseconds pause) {
  pause_.expires_after(pause);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopped_) stroke();
  });
}

void Orphans::stroke() {
  std::erase_if(lost_, [this](pid_t pid) { return supervise::end_cgroup_of(cgroups_, pid); });
  if (const auto keepers = keepers_()) {
    const std::size_t found = supervise::sweep(SIGKILL, *keepers);
    if (found > 0) spdlog::warn("killed {} processes that nobody else could end", found);
    empty_in_a_row_ = found > 0 || !lost_.empty() ? 0 : empty_in_a_row_ + 1;
  }
  const bool given_up = std::chrono::steady_clock::now() >= until_;
  if (given_up) spdlog::error("orphans of a lost launcher may be left");
  hunting_ = empty_in_a_row_ < kEnough && !given_up;
  if (hunting_) return stroke_after(kPause);
  lost_.clear();
}

}  // namespace guard::daemon
