#include "daemon/transport/peers.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "common/os/pidfd.h"

namespace guard::daemon {
namespace {

using ::testing::HasSubstr;

constexpr pid_t kGuardd = 50, kLauncher = 51, kMonitor = 52, kProgram = 53, kShell = 20,
                kCaller = 30;

// Processes made up. `between` runs once, after the first reading of a process: what happens while
// the walk is on its way.
class MadeUpTable final : public ProcessTable {
 public:
  std::map<pid_t, os::ProcStat> processes;
  std::set<pid_t> hidden, others;
  mutable std::map<pid_t, std::function<void()>> between;

  MadeUpTable() {
    add(1, 0);
    add(kShell, 1);
    add(kCaller, kShell);
    add(kGuardd, 1);
    add(kLauncher, kGuardd);
    add(kMonitor, kLauncher);
    add(kProgram, kMonitor);
  }
  void add(pid_t pid, pid_t parent, std::string name = "sh") {
    processes[pid] = {.pid = pid, .name = std::move(name), .state = 'S', .parent = parent};
    processes[pid].start_time = ++born_;
  }

  std::unique_ptr<Process> pin(pid_t pid) const override {
    if (!processes.contains(pid) || hidden.contains(pid)) return nullptr;
    return std::make_unique<Pinned>(*this, pid, processes.at(pid).start_time);
  }
  bool is_of_another_user(pid_t pid) const override { return others.contains(pid); }

 private:
  class Pinned final : public Process {
   public:
    Pinned(const MadeUpTable& table, pid_t pid, std::uint64_t born)
        : table_(table), pid_(pid), born_(born) {}
    Result<os::ProcStat> read() const override {
      const auto found = table_.processes.find(pid_);
      if (found == table_.processes.end() || found->second.start_time != born_) {
        return failure(Errc::kNotFound, "ended");
      }
      const os::ProcStat stat = found->second;
      if (auto action = table_.between.extract(pid_)) action.mapped()();
      return stat;
    }

   private:
    const MadeUpTable& table_;
    pid_t pid_;
    std::uint64_t born_;
  };
  std::uint64_t born_ = 0;
};

class CheckCaller : public ::testing::Test {
 protected:
  static constexpr uid_t kUid = 1000;

  static os::Peer peer(pid_t pid) {
    os::Peer peer{.pid = pid, .uid = kUid, .gid = kUid, .pidfd = {}};
    peer.pidfd = *os::pidfd_open(::getpid());  // somebody who lives
    peer.pidfd_supported = true;
    return peer;
  }
  Result<> check(const os::Peer& caller) const {
    return check_caller(caller, {.uid = kUid, .guardd = kGuardd}, table_);
  }
  std::string refusal(const os::Peer& caller) const {
    const auto checked = check(caller);
    if (checked) return "";
    EXPECT_EQ(checked.error().code, Errc::kDenied);
    return checked.error().what;
  }
  std::string refusal(pid_t pid) const { return refusal(peer(pid)); }

  MadeUpTable table_;
};

TEST_F(CheckCaller, AdmitsAProcessOfOurUser) { EXPECT_EQ(refusal(kCaller), ""); }

TEST_F(CheckCaller, AdmitsWhoStartedGuardd) { EXPECT_EQ(refusal(1), ""); }

TEST_F(CheckCaller, RefusesAnotherUidAndRootToo) {
  for (const uid_t uid : {0u, 1001u}) {
    os::Peer other = peer(kCaller);
    other.uid = uid;
    EXPECT_THAT(refusal(other), HasSubstr("uid " + std::to_string(uid)));
  }
}

TEST_F(CheckCaller, RefusesAProcessThatIsNotInOurPidNamespace) {
  EXPECT_THAT(refusal(0), HasSubstr("pid namespace"));
}

TEST_F(CheckCaller, RefusesAProcessThatHasBeenReaped) {
  os::Peer reaped = peer(kCaller);
  reaped.pidfd.reset();
  EXPECT_THAT(refusal(reaped), HasSubstr("ended"));
  EXPECT_THAT(refusal(peer(999)), HasSubstr("ended"));
}

TEST_F(CheckCaller, RefusesAZombieWhoseNumberLooksAlive) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  os::Peer dead = peer(kCaller);
  dead.pidfd = *os::pidfd_open(child);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(refusal(dead), HasSubstr("ended"));
  ::waitpid(child, nullptr, 0);
}

TEST_F(CheckCaller, RefusesEverythingThatDescendsFromGuardd) {
  for (const pid_t pid : {kGuardd, kLauncher, kMonitor, kProgram}) {
    EXPECT_THAT(refusal(pid), HasSubstr("of a run")) << pid;
  }
  table_.add(60, kProgram);
  table_.add(61, 60);
  EXPECT_THAT(refusal(61), HasSubstr("of a run"));
}

TEST_F(CheckCaller, RefusesARunOfAnotherGuarddAndWhatADeadOneLeft) {
  table_.add(70, 1, "guard-monitor");
  table_.add(71, 70);
  EXPECT_THAT(refusal(71), HasSubstr("of a run"));
  table_.add(72, 1, "guard-launcher");
  table_.add(73, 72);
  EXPECT_THAT(refusal(73), HasSubstr("of a run"));
}

TEST_F(CheckCaller, AnOrphanIsFollowedToItsMonitor) {
  table_.add(60, kProgram);
  table_.add(61, 60);
  // Its parent ends just when the walk has read who it is, and its number goes to a stranger.
  table_.between[61] = [this] {
    table_.processes[61].parent = kMonitor;
    table_.add(60, kShell);
  };
  EXPECT_THAT(refusal(61), HasSubstr("of a run"));
}

TEST_F(CheckCaller, AnAncestorThatEndsMeanwhileBeginsTheWalkAnew) {
  table_.add(60, kProgram);
  table_.add(61, 60);
  table_.between[60] = [this] {
    table_.processes.erase(60);
    table_.processes[61].parent = kMonitor;
  };
  EXPECT_THAT(refusal(61), HasSubstr("of a run"));

  table_.add(80, kShell);
  table_.add(81, 80);
  table_.between[80] = [this] {
    table_.processes.erase(80);
    table_.processes[81].parent = 1;
  };
  EXPECT_EQ(refusal(81), "");
}

TEST_F(CheckCaller, RefusesWhoseParentsChangeForEver) {
  std::function<void()> change = [this, &change] {
    table_.processes[kCaller].parent = table_.processes[kCaller].parent == 1 ? kShell : 1;
    table_.between[kCaller] = change;
  };
  table_.between[kCaller] = change;
  EXPECT_THAT(refusal(kCaller), HasSubstr("cannot be read"));
}

TEST_F(CheckCaller, RefusesAChainTooLongToFollow) {
  pid_t parent = kShell;
  for (pid_t pid = 1000; pid < 1200; ++pid) {
    table_.add(pid, parent);
    parent = pid;
  }
  EXPECT_EQ(refusal(1100), "");
  EXPECT_THAT(refusal(1199), HasSubstr("ancestors"));
}

TEST_F(CheckCaller, AHiddenAncestorOfAnotherUserEndsTheWalk) {
  table_.hidden.insert(1);
  EXPECT_THAT(refusal(kCaller), HasSubstr("cannot be read")) << "ours, and hidden all the same";
  table_.others.insert(1);
  EXPECT_EQ(refusal(kCaller), "");
}

TEST_F(CheckCaller, APeerThatIsHiddenIsRefused) {
  table_.hidden.insert(kCaller);
  EXPECT_THAT(refusal(kCaller), HasSubstr("ended"));
}

TEST_F(CheckCaller, WithoutPidfdsTheNumberIsFollowed) {
  const auto unpinned = [](pid_t pid) {
    return os::Peer{.pid = pid, .uid = kUid, .gid = kUid, .pidfd = {}};
  };
  EXPECT_EQ(refusal(unpinned(kCaller)), "");
  EXPECT_THAT(refusal(unpinned(kProgram)), HasSubstr("of a run"));
}

TEST(LiveProcessTable, FollowsThisProcessToTheTop) {
  const CallerRule rule{.uid = ::getuid(), .guardd = -1};
  os::Peer self{.pid = ::getpid(), .uid = ::getuid(), .gid = ::getgid(), .pidfd = {}};
  const auto checked = check_caller(self, rule, LiveProcessTable());
  EXPECT_TRUE(checked) << checked.error().message();
  EXPECT_FALSE(check_caller(self, {.uid = ::getuid(), .guardd = ::getppid()}, LiveProcessTable()));
}

TEST(LiveProcessTable, KnowsWhoIsOurs) {
  const LiveProcessTable processes;
  EXPECT_FALSE(processes.is_of_another_user(::getpid()));
  EXPECT_FALSE(processes.is_of_another_user(0x3ffffffe));
  EXPECT_EQ(processes.is_of_another_user(1), ::geteuid() != 0);
}

}  // namespace
}  // namespace guard::daemon
