// Rules that look at arguments: each case with clean registers, and with garbage in the upper half
// of every register that the kernel takes for an int.
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <span>

#include <gtest/gtest.h>

#include "tests/unit/seccomp/made_up_call.h"

namespace guard::seccomp {
namespace {

constexpr std::uint64_t kUpperHalves[] = {0, 1ull << 32, 1ull << 63, 0xffffffff00000000,
                                          0xdeadbeef00000000};

struct Case {
  std::string_view syscall;
  Arguments arguments;
  std::string_view verdict;
  unsigned pointers = 0;  // bit i: argument i is a pointer, whose upper half counts
};

constexpr std::string_view kAllow = "allow";
constexpr std::string_view kEperm = "errno EPERM";

void expect(const FilterSpec& base, std::span<const Case> cases) {
  for (const Arch arch : kBothArchs) {
    FilterSpec spec = base;
    spec.arch = arch;
    for (const Case& each : cases) {
      if (!number_of(each.syscall, arch)) {
        EXPECT_EQ(arch, Arch::kAarch64) << each.syscall << " is a call of neither";
        continue;
      }
      for (const std::uint64_t upper : kUpperHalves) {
        Arguments arguments = each.arguments;
        for (unsigned i = 0; i < arguments.size(); ++i) {
          if (!(each.pointers & (1u << i))) arguments[i] = (arguments[i] & 0xffffffff) | upper;
        }
        EXPECT_EQ(verdict(spec, each.syscall, arguments), each.verdict)
            << each.syscall << "(" << std::hex << arguments[0] << ", " << arguments[1] << ", "
            << arguments[2] << ", " << arguments[3] << ") on " << name(arch);
      }
    }
  }
}

TEST(SocketRules, RefuseEverySocketWhenNoNetworkIsGranted) {
  const Case cases[] = {
      {"socket", {AF_UNIX, SOCK_STREAM, 0}, kEperm},
      {"socket", {AF_UNIX, SOCK_DGRAM, 0}, kEperm},
      {"socket", {AF_INET, SOCK_STREAM, 0}, kEperm},
      {"socket", {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP}, kEperm},
      {"socket", {AF_INET6, SOCK_DGRAM, 0}, kEperm},
      {"socket", {AF_INET, SOCK_RAW, 1}, kEperm},
      {"socket", {AF_INET, SOCK_STREAM, 262}, kEperm},
      {"socket", {AF_UNSPEC, SOCK_STREAM, 0}, "errno EAFNOSUPPORT"},
      {"socket", {AF_NETLINK, SOCK_RAW, 0}, "errno EAFNOSUPPORT"},
      {"socket", {AF_PACKET, SOCK_RAW, 0}, "errno EAFNOSUPPORT"},
      {"socket", {AF_VSOCK, SOCK_STREAM, 0}, "errno EAFNOSUPPORT"},
      {"socket", {AF_ALG, SOCK_SEQPACKET, 0}, "errno EAFNOSUPPORT"},
      {"socket", {AF_SMC, SOCK_STREAM, 0}, "errno EAFNOSUPPORT"},
      {"socket", {46, SOCK_STREAM, 0}, "errno EAFNOSUPPORT"},
      {"socket", {0xffffffff, SOCK_STREAM, 0}, "errno EAFNOSUPPORT"},
      {"listen", {3, 1}, kEperm},
  };
  expect({}, cases);
}

TEST(SocketRules, AllowTcpAloneWhenAPortIsGranted) {
  const Case cases[] = {
      {"socket", {AF_INET, SOCK_STREAM, 0}, kAllow},
      {"socket", {AF_INET6, SOCK_STREAM, IPPROTO_TCP}, kAllow},
      {"socket", {AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}, kAllow},
      {"socket", {AF_INET, SOCK_STREAM, 262}, "errno EPROTONOSUPPORT"},  // MPTCP
      {"socket", {AF_INET6, SOCK_STREAM, IPPROTO_SCTP}, "errno EPROTONOSUPPORT"},
      {"socket", {AF_INET, SOCK_STREAM, 256}, "errno EPROTONOSUPPORT"},  // SMC
      {"socket", {AF_INET, SOCK_DGRAM, 0}, kEperm},
      {"socket", {AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP}, kEperm},
      {"socket", {AF_INET6, SOCK_DGRAM, IPPROTO_UDPLITE}, kEperm},
      {"socket", {AF_INET, SOCK_DGRAM, IPPROTO_ICMP}, kEperm},
      {"socket", {AF_INET, SOCK_RAW, IPPROTO_RAW}, kEperm},
      {"socket", {AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP}, kEperm},
      {"socket", {AF_INET, 10 /* SOCK_PACKET */, 0}, kEperm},
      {"socket", {AF_UNIX, SOCK_STREAM, 0}, kEperm},
      {"socket", {AF_NETLINK, SOCK_RAW, 0}, "errno EAFNOSUPPORT"},
      {"connect", {3, 0x1000, 16}, kAllow},
      {"bind", {3, 0x1000, 16}, kAllow},
      {"listen", {3, 1}, kEperm},
  };
  expect({.inet_stream = true}, cases);
}

TEST(SocketRules, AllowListeningWhenAPortMayBeBound) {
  const Case cases[] = {{"listen", {3, 128}, kAllow},
                        {"socket", {AF_INET, SOCK_STREAM, 0}, kAllow},
                        {"accept4", {3, 0, 0, SOCK_CLOEXEC}, kAllow}};
  expect({.inet_stream = true, .listen = true}, cases);
}

TEST(SocketRules, AllowPairsThatStayConnected) {
  const Case cases[] = {
      {"socketpair", {AF_UNIX, SOCK_STREAM, 0}, kAllow},
      {"socketpair", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}, kAllow},
      {"socketpair", {AF_UNIX, SOCK_SEQPACKET, 0}, kAllow},
      {"socketpair", {AF_UNIX, SOCK_DGRAM, 0}, "errno EPROTONOSUPPORT"},
      {"socketpair", {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0}, "errno EPROTONOSUPPORT"},
      {"socketpair", {AF_UNIX, SOCK_RAW, 0}, "errno EPROTONOSUPPORT"},  // becomes DGRAM
      {"socketpair", {AF_UNIX, 0, 0}, "errno EPROTONOSUPPORT"},
      {"socketpair", {AF_TIPC, SOCK_STREAM, 0}, "errno EAFNOSUPPORT"},
      {"socketpair", {AF_INET, SOCK_STREAM, 0}, "errno EAFNOSUPPORT"},
  };
  expect({}, cases);
  expect({.inet_stream = true, .listen = true}, cases);
}

TEST(SocketRules, RefuseConnectingByOtherMeansThanConnect) {
  const Case cases[] = {
      {"sendto", {3, 0x1000, 1, MSG_FASTOPEN, 0x2000, 16}, "errno EOPNOTSUPP"},
      {"sendto", {3, 0x1000, 1, MSG_FASTOPEN | MSG_NOSIGNAL, 0x2000, 16}, "errno EOPNOTSUPP"},
      {"sendto", {3, 0x1000, 1, MSG_NOSIGNAL, 0, 0}, kAllow},
      {"sendto", {3, 0x1000, MSG_FASTOPEN, 0, 0, 0}, kAllow},
      {"sendmsg", {3, 0x1000, MSG_FASTOPEN}, "errno EOPNOTSUPP"},
      {"sendmsg", {3, 0x1000, MSG_NOSIGNAL | MSG_DONTWAIT}, kAllow},
      {"sendmmsg", {3, 0x1000, 1, MSG_FASTOPEN}, "errno EOPNOTSUPP"},
      {"sendmmsg", {3, 0x1000, 1, 0}, kAllow},
      {"setsockopt", {3, IPPROTO_TCP, TCP_ULP}, "errno ENOPROTOOPT"},
      {"setsockopt", {3, IPPROTO_TCP, TCP_NODELAY}, kAllow},
      {"setsockopt", {3, SOL_SOCKET, TCP_ULP}, kAllow},
      {"setsockopt", {3, SOL_SOCKET, SO_REUSEADDR}, kAllow},
  };
  expect({.inet_stream = true, .listen = true}, cases);
}

TEST(FileRules, RefuseSetuidAndSetgidBitsWhereverAModeIsGiven) {
  struct {
    std::string_view syscall;
    unsigned mode;
    Arguments others;
  } const calls[] = {{"chmod", 1, {}},
                     {"fchmod", 1, {}},
                     {"fchmodat", 2, {}},
                     {"fchmodat2", 2, {}},
                     {"creat", 1, {}},
                     {"mkdir", 1, {}},
                     {"mkdirat", 2, {}},
                     {"mknod", 1, {}},
                     {"mknodat", 2, {}},
                     {"open", 2, {0, O_WRONLY | O_CREAT}},
                     {"openat", 3, {0, 0, O_WRONLY | O_CREAT}},
                     {"open", 2, {0, O_RDWR | O_TMPFILE}},
                     {"openat", 3, {0, 0, O_RDWR | O_TMPFILE}}};
  for (const auto& call : calls) {
    for (const std::uint64_t mode : {04755u, 02755u, 06000u, 07777u}) {
      Case refused{call.syscall, call.others, kEperm};
      refused.arguments[call.mode] = mode;
      expect({}, {&refused, 1});
    }
    for (const std::uint64_t mode : {0u, 0644u, 0755u, 01777u, 0100644u}) {
      Case allowed{call.syscall, call.others, kAllow};
      allowed.arguments[call.mode] = mode;
      expect({}, {&allowed, 1});
    }
  }
}

TEST(FileRules, IgnoreTheModeRegisterOfAnOpenThatMakesNothing) {
  const Case cases[] = {{"open", {0, O_RDONLY, 07777}, kAllow},
                        {"open", {0, O_RDONLY | O_DIRECTORY, 07777}, kAllow},
                        {"openat", {0, 0, O_WRONLY | O_TRUNC, 0xffffffff}, kAllow}};
  expect({}, cases);
}

TEST(FileRules, RefuseTheAccessModeThatLandlockAsksNothingFor) {
  const Case cases[] = {{"open", {0, 3}, kEperm},
                        {"open", {0, 3 | O_TRUNC}, kEperm},
                        {"openat", {0, 0, 3 | O_CLOEXEC | O_NONBLOCK}, kEperm},
                        {"openat", {0, 0, 3 | O_CREAT, 0644}, kEperm},
                        {"openat", {0, 0, O_PATH | 3}, kAllow},  // O_PATH ignores it
                        {"openat", {0, 0, O_RDWR}, kAllow}};
  expect({}, cases);
}

TEST(FileRules, RefuseTruncationWhenLandlockCannot) {
  const Case refused[] = {{"truncate", {0x1000, 0}, "errno EACCES", 1},
                          {"open", {0, O_RDONLY | O_TRUNC}, kEperm},
                          {"openat", {0, 0, O_RDONLY | O_TRUNC | O_CLOEXEC}, kEperm},
                          {"openat", {0, 0, 3 | O_TRUNC}, kEperm}};
  expect({.refuse_truncate = true}, refused);
  const Case still_allowed[] = {{"open", {0, O_WRONLY | O_TRUNC | O_CREAT, 0644}, kAllow},
                                {"openat", {0, 0, O_RDWR | O_TRUNC}, kAllow},
                                {"openat", {0, 0, O_RDONLY}, kAllow},
                                {"openat", {0, 0, O_PATH | O_TRUNC}, kAllow},
                                {"creat", {0, 0644}, kAllow},
                                {"ftruncate", {3, 0}, kAllow}};
  expect({.refuse_truncate = true}, still_allowed);
  const Case by_default[] = {{"truncate", {0x1000, 0}, kAllow},
                             {"openat", {0, 0, O_RDONLY | O_TRUNC}, kAllow}};
  expect({}, by_default);
}

TEST(FileRules, RefuseWhiteoutsLeasesAndDirectoryNotification) {
  const Case cases[] = {{"renameat2", {0, 0, 0, 0, 4}, "errno EINVAL"},
                        {"renameat2", {0, 0, 0, 0, 5}, "errno EINVAL"},
                        {"renameat2", {0, 0, 0, 0, 1}, kAllow},
                        {"renameat2", {0, 0, 0, 0, 2}, kAllow},
                        {"fcntl", {3, 1024 /* F_SETLEASE */, F_WRLCK}, kEperm},
                        {"fcntl", {3, 1026 /* F_NOTIFY */, 1}, kEperm},
                        {"fcntl", {3, 1040 /* F_SETDELEG */, 1}, kEperm},
                        {"fcntl", {3, 1025 /* F_GETLEASE */}, kAllow},
                        {"fcntl", {3, F_SETFL, O_NONBLOCK}, kAllow},
                        {"fcntl", {3, F_SETLK, 0x1000}, kAllow},
                        {"fcntl", {3, F_DUPFD_CLOEXEC, 3}, kAllow},
                        {"fcntl", {3, 1033 /* F_ADD_SEALS */, 1}, kAllow}};
  expect({}, cases);
}

TEST(IoctlRules, RefuseTypingIntoTheTerminalAndChangingFiles) {
  for (const std::uint64_t request :
       {0x5412u, 0x541cu, 0x541du, 0x5423u, 0x40086602u, 0x40046602u, 0x401c5820u, 0x40806685u,
        0x50009401u, 0x5000940fu, 0xc0c89425u}) {
    const Case refused{"ioctl", {0, request, 0x1000}, kEperm};
    expect({}, {&refused, 1});
  }
  for (const std::uint64_t request : std::initializer_list<std::uint64_t>{
           TCGETS, TCSETS, TIOCGWINSZ, TIOCSWINSZ, TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER, TIOCSCTTY,
           TIOCSPGRP, FIONREAD, FIONBIO, FIOCLEX}) {
    const Case allowed{"ioctl", {0, request, 0x1000}, kAllow};
    expect({}, {&allowed, 1});
  }
  const Case reading{"ioctl", {0, 0x80086601 /* FS_IOC_GETFLAGS */, 0x1000}, kAllow};
  expect({}, {&reading, 1});
}

TEST(IoctlRules, ALockedTerminalKeepsItsModesAndStillAnswers) {
  for (const std::uint64_t request : std::initializer_list<std::uint64_t>{
           TCSETS, TCSETSW, TCSETSF, TCSETA, TCXONC, TIOCEXCL, TIOCSWINSZ, 0x402c542b /* TCSETS2 */,
           TCSETS | 1ul << 32}) {
    const Case refused{"ioctl", {0, request, 0x1000}, kEperm};
    expect({.lock_terminal = true}, {&refused, 1});
  }
  for (const std::uint64_t request : std::initializer_list<std::uint64_t>{
           TCGETS, TIOCGWINSZ, TIOCGPGRP, TIOCSPGRP, TIOCSCTTY, TIOCNOTTY, TCFLSH, FIONREAD}) {
    const Case allowed{"ioctl", {0, request, 0x1000}, kAllow};
    expect({.lock_terminal = true}, {&allowed, 1});
  }
}

TEST(ProcessRules, RefuseNamespacesAndSiblingsInClone) {
  for (const std::uint64_t flag : std::initializer_list<std::uint64_t>{
           CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID,
           CLONE_NEWNET, CLONE_PARENT}) {
    const Case cases[] = {{"clone", {flag | SIGCHLD}, kEperm},
                          {"clone", {flag | CLONE_VM | CLONE_VFORK | SIGCHLD}, kEperm}};
    expect({}, cases);
  }
  const Case allowed[] = {
      {"clone", {SIGCHLD}, kAllow},
      {"clone", {CLONE_VM | CLONE_VFORK | SIGCHLD}, kAllow},
      {"clone", {CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD}, kAllow},
      {"clone",
       {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
        CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID},
       kAllow},
      {"clone", {CLONE_PIDFD | SIGCHLD}, kAllow}};
  expect({}, allowed);
}

TEST(ProcessRules, RefuseChangingHowOtherProcessesRun) {
  const Case cases[] = {
      {"sched_setaffinity", {0, 8, 0x1000}, kAllow},
      {"sched_setaffinity", {1234, 8, 0x1000}, kEperm},
      {"sched_setscheduler", {0, 0, 0x1000}, kAllow},
      {"sched_setscheduler", {1, 3, 0x1000}, kEperm},
      {"sched_setparam", {0x80000000, 0x1000}, kEperm},
      {"sched_setparam", {0, 0x1000}, kAllow},
      {"sched_setattr", {4194303, 0x1000, 0}, kEperm},
      {"sched_setattr", {0, 0x1000, 0}, kAllow},
      {"setpriority", {PRIO_PROCESS, 0, 5}, kAllow},
      {"setpriority", {PRIO_PROCESS, 1234, 5}, kEperm},
      {"setpriority", {PRIO_PGRP, 0, 5}, kEperm},
      {"setpriority", {PRIO_USER, 0, 19}, kEperm},
      {"ioprio_set", {IOPRIO_WHO_PROCESS, 0, 0}, kAllow},
      {"ioprio_set", {IOPRIO_WHO_PROCESS, 7, 0}, kEperm},
      {"ioprio_set", {IOPRIO_WHO_USER, 0, 0}, kEperm},
      {"getpriority", {PRIO_USER, 0}, kAllow},
      {"prctl", {PR_SCHED_CORE, 1, 0, 0}, "errno EINVAL"},
      {"prctl", {PR_SET_DUMPABLE, 0}, kAllow},
      {"prctl", {PR_SET_NAME, 0x1000}, kAllow},
  };
  expect({}, cases);
}

TEST(ProcessRules, RefuseLimitsOfOthersButNotLookingAtThem) {
  constexpr unsigned kNewLimit = 1u << 2;
  const Case cases[] = {
      {"prlimit64", {0, RLIMIT_NOFILE, 0x7ffd00001000, 0}, kAllow, kNewLimit},
      {"prlimit64", {1234, RLIMIT_NOFILE, 0, 0x1000}, kAllow, kNewLimit},
      {"prlimit64", {1234, RLIMIT_NOFILE, 0x7ffd00001000, 0}, kEperm, kNewLimit},
      {"prlimit64", {1234, RLIMIT_NOFILE, 0x7ffd00000000, 0}, kEperm, kNewLimit},
      {"prlimit64", {1234, RLIMIT_NOFILE, 0x1000, 0}, kEperm, kNewLimit},
  };
  expect({}, cases);
}

TEST(ProcessRules, RefuseSignallingEverybodyWhenLandlockCannot) {
  const Case stand_in[] = {{"kill", {0xffffffff, SIGKILL}, kEperm},
                           {"kill", {0xffffffff, 0}, kEperm},
                           {"kill", {0, SIGTERM}, kAllow},
                           {"kill", {0xfffffffe, SIGTERM}, kAllow},
                           {"kill", {1234, SIGTERM}, kAllow}};
  expect({.refuse_kill_all = true}, stand_in);
  const Case by_default{"kill", {0xffffffff, SIGKILL}, kAllow};
  expect({}, {&by_default, 1});
}

TEST(ProcessRules, AllowDebuggersWhenGranted) {
  const Case granted[] = {{"ptrace", {16, 1234}, kAllow},
                          {"process_vm_readv", {1234}, kAllow},
                          {"process_vm_writev", {1234}, kAllow},
                          {"pidfd_getfd", {3, 0, 0}, kEperm},
                          {"kcmp", {1, 2, 0}, kEperm}};
  expect({.allow_ptrace = true}, granted);
}

TEST(ProcessRules, AllowFiltersOfTheRunsOwnButNoListener) {
  const Case cases[] = {
      {"seccomp", {SECCOMP_SET_MODE_FILTER, 0, 0x1000}, kAllow},
      {"seccomp", {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, 0x1000}, kAllow},
      {"seccomp",
       {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0x1000},
       "errno EBUSY"},
      {"seccomp",
       {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | 2, 0x1000},
       "errno EBUSY"},
      {"seccomp", {SECCOMP_GET_ACTION_AVAIL, 0, 0x1000}, kAllow},
      {"seccomp", {SECCOMP_SET_MODE_STRICT, 0, 0}, kAllow},
      {"prctl", {PR_SET_SECCOMP, 2, 0x1000}, kAllow},
  };
  expect({}, cases);
}

}  // namespace
}  // namespace guard::seccomp
