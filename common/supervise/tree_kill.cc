#include "common/supervise/tree_kill.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <unordered_map>
#include <unordered_set>

#include "common/base/check.h"
#include "common/os/pidfd.h"
#include "common/sandbox/landlock/ruleset.h"

namespace guard::supervise {
namespace {

bool may_signal(pid_t pid) { return pid > 0 && ::kill(pid, 0) == 0; }
bool is_refused(pid_t pid) { return ::kill(pid, 0) < 0 && errno == EPERM; }

bool is_alive(const os::ProcStat& process) { return process.state != 'Z' && process.state != 'X'; }

// `process` was seen a moment ago as a descendant. Its pid may be another's by now; what the pidfd
// holds is that descendant only if, with the pidfd open, the start time is still the same.
bool signal_pinned(const os::ProcStat& process, int signal) {
  const auto pidfd = os::pidfd_open(process.pid);
  if (!pidfd) return false;
  const auto seen_again = os::proc_stat(process.pid);
  if (!seen_again || seen_again->start_time != process.start_time) return false;
  return os::pidfd_signal(pidfd->get(), signal).has_value();
}

}  // namespace

KillScope KillScope::enter(int ruleset, std::span<const pid_t> outsiders) {
  KillScope scope;
  if (ruleset < 0 || outsiders.empty()) return scope;
  const bool all_reachable = std::all_of(outsiders.begin(), outsiders.end(), may_signal);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return scope;
  if (landlock::restrict_self(ruleset) != 0) return scope;
  scope.proven_ = all_reachable && std::all_of(outsiders.begin(), outsiders.end(), is_refused);
  return scope;
}

void KillScope::signal_all(int signal) const {
  GUARD_CHECK(proven_);
  (void)::kill(-1, signal);  // ESRCH: nobody is left, which is as good
}

std::vector<os::ProcStat> descendants(pid_t root, std::span<const os::ProcStat> all,
                                      std::span<const pid_t> spared) {
  std::unordered_multimap<pid_t, const os::ProcStat*> children;
  for (const auto& process : all) children.emplace(process.parent, &process);
  std::unordered_set<pid_t> met(spared.begin(), spared.end());
  met.insert(root);
  std::vector<os::ProcStat> found;
  std::vector<pid_t> parents{root};
  // The list is no snapshot: reused numbers could make a ring, which `met` cuts.
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const auto [first, last] = children.equal_range(parents[i]);
    for (auto child = first; child != last; ++child) {
      if (!met.insert(child->second->pid).second) continue;
      found.push_back(*child->second);
      parents.push_back(child->second->pid);
    }
  }
  return found;
}

std::size_t sweep(int signal, std::span<const pid_t> spared) {
  const auto all = os::all_processes();
  if (!all) return 0;  // no /proc, or no descriptor left: the caller's time bound ends this
  std::size_t living = 0;
  for (const auto& process : descendants(::getpid(), *all, spared)) {
    if (!is_alive(process)) continue;
    ++living;
    (void)signal_pinned(process, signal);  // gone meanwhile: the next sweep shows
  }
  return living;
}

}  // namespace guard::supervise
