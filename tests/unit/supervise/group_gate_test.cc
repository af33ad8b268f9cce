#include "common/supervise/group_gate.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "common/os/seqpacket.h"
#include "common/sandbox/seccomp/interpret.h"
#include "common/sandbox/seccomp/syscall_numbers.h"

namespace guard::supervise {
namespace {

using seccomp::Arch;

std::uint32_t action(Arch arch, std::uint32_t audit_arch, int number) {
  seccomp_data call{};
  call.arch = audit_arch;
  call.nr = number;
  return *seccomp::interpret(*group_gate_filter(arch), call);
}

TEST(GroupGateFilter, AsksForNewGroupsByEveryDoor) {
  for (const Arch arch : {Arch::kX86_64, Arch::kAarch64}) {
    for (const char* name : {"setsid", "setpgid"}) {
      const int number = *seccomp::number_of(name, arch);
      EXPECT_EQ(action(arch, seccomp::audit_arch(arch), number), SECCOMP_RET_USER_NOTIF) << name;
    }
  }
  constexpr int kX32 = 0x40000000;
  EXPECT_EQ(action(Arch::kX86_64, AUDIT_ARCH_X86_64, kX32 | 109), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(action(Arch::kX86_64, AUDIT_ARCH_X86_64, kX32 | 112), SECCOMP_RET_USER_NOTIF);
  for (const int number : {57, 66}) {  // setpgid, setsid
    EXPECT_EQ(action(Arch::kX86_64, AUDIT_ARCH_I386, number), SECCOMP_RET_USER_NOTIF);
    EXPECT_EQ(action(Arch::kAarch64, AUDIT_ARCH_ARM, number), SECCOMP_RET_USER_NOTIF);
  }
}

TEST(GroupGateFilter, LetsEverythingElseThroughForksToo) {
  for (const Arch arch : {Arch::kX86_64, Arch::kAarch64}) {
    for (int number = 0; number <= seccomp::kNewestNumber; ++number) {
      const auto name = seccomp::name_of(number, arch);
      if (name == "setsid" || name == "setpgid") continue;
      EXPECT_EQ(action(arch, seccomp::audit_arch(arch), number), SECCOMP_RET_ALLOW) << name;
    }
  }
  EXPECT_EQ(action(Arch::kX86_64, AUDIT_ARCH_I386, 2), SECCOMP_RET_ALLOW);  // fork
}

// A child behind a gate, its listener here.
class Gated : public testing::Test {
 protected:
  void start(void (*body)(int to_test)) {
    auto ends = *os::seqpacket_pair();
    const auto program = *group_gate_filter(seccomp::kHostArch);
    const sock_fprog filter{static_cast<std::uint16_t>(program.size()),
                            const_cast<sock_filter*>(program.data())};
    child_ = ::fork();
    if (child_ == 0) {
      const long listener = load_group_gate(filter);
      if (listener < 0) ::_exit(static_cast<int>(-listener));
      const int fds[] = {static_cast<int>(listener)};
      if (!os::send_packet(ends.second.get(), "l", fds)) ::_exit(1);
      ::close(fds[0]);
      body(ends.second.get());
      ::_exit(0);
    }
    ends.second.reset();
    from_child_ = std::move(ends.first);
    auto packet = os::receive_packet(from_child_.get(), 1);
    if (!packet || packet->fds.size() != 1) GTEST_SKIP() << "kernel: no seccomp listener";
    gate_.take(std::move(packet->fds[0]));
  }
  void TearDown() override {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, __WALL);
  }
  short wait_at_gate() {
    pollfd gate{.fd = gate_.listener(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&gate, 1, 10'000), 1);
    return gate.revents;
  }
  int exit_status() {
    int status = 0;
    ::waitpid(std::exchange(child_, 0), &status, 0);
    return status;
  }

  pid_t child_ = 0;
  os::UniqueFd from_child_;
  GroupGate gate_;
};

TEST_F(Gated, IsProvenByTheFirstCallThatItLetThrough) {
  start([](int) { ::_exit(::setsid() > 0 ? 7 : 1); });
  if (IsSkipped()) return;
  EXPECT_FALSE(gate_.proven());
  gate_.answer(wait_at_gate());
  EXPECT_TRUE(gate_.proven());
  EXPECT_EQ(WEXITSTATUS(exit_status()), 7);
}

TEST_F(Gated, SaysNoSuchCallOnceItsKeeperIsGone) {
  start([](int) { ::_exit(::setsid() < 0 && errno == ENOSYS && ::fork() >= 0 ? 7 : 1); });
  if (IsSkipped()) return;
  wait_at_gate();
  gate_ = {};
  EXPECT_EQ(WEXITSTATUS(exit_status()), 7);
}

TEST_F(Gated, CallerThatDiesWaitingDoesNotHoldItsKeeperUp) {
  start([](int) { ::setsid(); });
  if (IsSkipped()) return;
  const short seen = wait_at_gate();
  ::kill(child_, SIGKILL);
  exit_status();
  gate_.answer(seen);  // would wait for ever, did it ask for more than is there
  EXPECT_FALSE(gate_.proven());
  gate_.answer(wait_at_gate());  // nobody is left behind it
  EXPECT_EQ(gate_.listener(), -1);
}

TEST_F(Gated, HoldsNoDescriptorThatIsNoListener) {
  auto ends = *os::seqpacket_pair();
  gate_.take(std::move(ends.first));
  gate_.answer(POLLIN);
  EXPECT_EQ(gate_.listener(), -1);
  EXPECT_FALSE(gate_.proven());
}

TEST(KillGroupOf, KillsTheGroupThatADeadChildLeaves) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t leader = ::fork();
  if (leader == 0) {
    ::setsid();
    if (::fork() == 0) {
      (void)::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    ::_exit(0);
  }
  ::close(ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  siginfo_t dead{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(leader), &dead, WEXITED | WNOWAIT), 0);
  kill_group_of(leader);
  EXPECT_EQ(::read(ready[0], &byte, 1), 0) << "who was left holds the pipe no more";
  ::close(ready[0]);
  ::waitpid(leader, nullptr, 0);
}

TEST(KillGroupOf, SparesOurOwn) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t dead{};
  ::waitid(P_PID, static_cast<id_t>(child), &dead, WEXITED | WNOWAIT);
  kill_group_of(child);  // this process goes on
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  kill_group_of(child);  // nobody's number
}

}  // namespace
}  // namespace guard::supervise
