#include "daemon/transport/peers.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "common/os/pidfd.h"

namespace guard::daemon {
namespace {

using ProcessPtr = std::unique_ptr<ProcessTable::Process>;

// A shell in an editor in a terminal in a session is a dozen.
constexpr int kMostAncestors = 128;
// A walk is begun again when a process on the way ends meanwhile.
constexpr int kMostWalks = 16;

// Of runs that are not ours: another guardd's, or left by one that was killed and not yet dead. The
// names that supervise gives its processes; a run can rename only its own.
constexpr std::array<std::string_view, 2> kSupervisors = {"guard-launcher", "guard-monitor"};

class LiveProcess final : public ProcessTable::Process {
 public:
  explicit LiveProcess(os::PinnedStat stat) : stat_(std::move(stat)) {}
  Result<os::ProcStat> read() const override { return stat_.read(); }

 private:
  os::PinnedStat stat_;
};

enum class Ancestry { kOutside, kRun, kTooDeep, kMoved };

bool is_of_runs(const os::ProcStat& process, const CallerRule& rule) {
  return process.pid == rule.guardd ||
         std::ranges::find(kSupervisors, process.name) != kSupervisors.end();
}

Ancestry walk(ProcessPtr process, const CallerRule& rule, const ProcessTable& processes) {
  for (int i = 0; i < kMostAncestors; ++i) {
    const auto now = process->read();
    if (!now) return Ancestry::kMoved;
    if (is_of_runs(*now, rule)) return Ancestry::kRun;
    if (now->parent == 0)
      return Ancestry::kOutside;  // init, or its parent is outside our namespace
    ProcessPtr parent = processes.pin(now->parent);
    const bool others = !parent && processes.is_of_another_user(now->parent);
    const auto afterwards = process->read();
    if (!afterwards || afterwards->parent != now->parent) return Ancestry::kMoved;
    if (!parent) return others ? Ancestry::kOutside : Ancestry::kMoved;
    process = std::move(parent);
  }
  return Ancestry::kTooDeep;
}

std::unexpected<Error> denied(std::string why) { return failure(Errc::kDenied, std::move(why)); }

bool has_ended(const os::Peer& peer) { return peer.pidfd && os::pidfd_ended(peer.pidfd.get()); }

}  // namespace

ProcessPtr LiveProcessTable::pin(pid_t pid) const {
  auto stat = os::PinnedStat::open(pid);
  if (!stat) return nullptr;
  return std::make_unique<LiveProcess>(*std::move(stat));
}

bool LiveProcessTable::is_of_another_user(pid_t pid) const {
  return ::kill(pid, 0) != 0 && errno == EPERM;
}

Result<> check_caller(const os::Peer& peer, const CallerRule& rule, const ProcessTable& processes) {
  if (peer.uid != rule.uid) return denied("it is of uid " + std::to_string(peer.uid));
  if (peer.pid == 0) return denied("its process is in a pid namespace that is not below guardd's");
  if (peer.pidfd_supported && !peer.pidfd) return denied("its process has ended");
  for (int i = 0; i < kMostWalks; ++i) {
    ProcessPtr process = processes.pin(peer.pid);
    // The number was still that of the peer when it was pinned.
    if (!process || has_ended(peer)) return denied("its process has ended");
    switch (walk(std::move(process), rule, processes)) {
      case Ancestry::kOutside:
        return {};
      case Ancestry::kRun:
        return denied("a process of a run may not call guardd");
      case Ancestry::kTooDeep:
        return denied("it has more than " + std::to_string(kMostAncestors) + " ancestors");
      case Ancestry::kMoved:
        break;
    }
  }
  return denied("its ancestors cannot be read");
}

}  // namespace guard::daemon
