#include "common/sandbox/seccomp/syscall_sets.h"

#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/msdos_fs.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/seccomp/made_up_call.h"

namespace guard::seccomp {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

bool listed(const FilterSpec& spec, std::string_view name) {
  return std::ranges::any_of(list(spec),
                             [&](const SyscallRule& rule) { return rule.name == name; });
}

TEST(SyscallSets, NameTheIoctlsOfTheKernelsHeaders) {
  const std::map<std::string_view, std::uint64_t> headers = {
      {"TIOCSTI", TIOCSTI},
      {"TIOCLINUX", TIOCLINUX},
      {"TIOCCONS", TIOCCONS},
      {"TIOCSETD", TIOCSETD},
      {"TCSETS", TCSETS},
      {"TCSETSW", TCSETSW},
      {"TCSETSF", TCSETSF},
      {"TCSETA", TCSETA},
      {"TCSETAW", TCSETAW},
      {"TCSETAF", TCSETAF},
      {"TCXONC", TCXONC},
      {"TIOCEXCL", TIOCEXCL},
      {"TIOCSWINSZ", TIOCSWINSZ},
      {"TIOCSLCKTRMIOS", TIOCSLCKTRMIOS},
      // struct termios2 of <asm/termbits.h>, which <termios.h> does not bear beside it: 44 bytes.
      {"TCSETS2", _IOC(_IOC_WRITE, 'T', 0x2b, 44)},
      {"TCSETSW2", _IOC(_IOC_WRITE, 'T', 0x2c, 44)},
      {"TCSETSF2", _IOC(_IOC_WRITE, 'T', 0x2d, 44)},
      {"FS_IOC_SETFLAGS", FS_IOC_SETFLAGS},
      {"FS_IOC32_SETFLAGS", FS_IOC32_SETFLAGS},
      {"FS_IOC_FSSETXATTR", FS_IOC_FSSETXATTR},
      {"FS_IOC_SETVERSION", FS_IOC_SETVERSION},
      {"FS_IOC32_SETVERSION", FS_IOC32_SETVERSION},
      {"EXT4_IOC_SETVERSION", _IOW('f', 4, long)},
      {"EXT4_IOC32_SETVERSION", _IOW('f', 4, int)},
      {"FS_IOC_ENABLE_VERITY", FS_IOC_ENABLE_VERITY},
      {"FS_IOC_SET_ENCRYPTION_POLICY", FS_IOC_SET_ENCRYPTION_POLICY},
      {"FAT_IOCTL_SET_ATTRIBUTES", FAT_IOCTL_SET_ATTRIBUTES},
      {"BTRFS_IOC_SNAP_CREATE", BTRFS_IOC_SNAP_CREATE},
      {"BTRFS_IOC_SNAP_CREATE_V2", BTRFS_IOC_SNAP_CREATE_V2},
      {"BTRFS_IOC_SUBVOL_CREATE", BTRFS_IOC_SUBVOL_CREATE},
      {"BTRFS_IOC_SUBVOL_CREATE_V2", BTRFS_IOC_SUBVOL_CREATE_V2},
      {"BTRFS_IOC_SNAP_DESTROY", BTRFS_IOC_SNAP_DESTROY},
      {"BTRFS_IOC_SNAP_DESTROY_V2", BTRFS_IOC_SNAP_DESTROY_V2},
      {"BTRFS_IOC_SUBVOL_SETFLAGS", BTRFS_IOC_SUBVOL_SETFLAGS},
      {"BTRFS_IOC_SET_RECEIVED_SUBVOL", BTRFS_IOC_SET_RECEIVED_SUBVOL},
  };
  std::size_t seen = 0;
  for (const Rule& rule : rules({.lock_terminal = true})) {
    if (rule.syscall != "ioctl") continue;
    for (const NamedValue& request : rule.when.at(0).values) {
      ASSERT_TRUE(headers.contains(request.name)) << request.name;
      EXPECT_EQ(request.value, headers.at(request.name)) << request.name;
      ++seen;
    }
  }
  EXPECT_EQ(seen, headers.size());
}

TEST(SyscallSets, HaveAWellFormedReasonAndErrnoForEveryRule) {
  for (const Arch arch : kBothArchs) {
    for (const Rule& rule : rules({.arch = arch, .inet_stream = true, .refuse_truncate = true})) {
      EXPECT_GT(rule.error, 0) << rule.syscall;
      EXPECT_FALSE(rule.group.empty()) << rule.syscall;
      EXPECT_FALSE(rule.reason.empty()) << rule.syscall;
      EXPECT_TRUE(number_of(rule.syscall, arch)) << rule.syscall;
      for (const Condition& condition : rule.when) {
        EXPECT_LT(condition.argument, 6u) << rule.syscall;
        EXPECT_EQ(condition.values.empty(), condition.holds == Condition::Holds::kNotNull)
            << rule.syscall;
      }
    }
  }
}

TEST(SyscallSets, LeaveOutCallsThatTheArchitectureLacks) {
  EXPECT_TRUE(listed({.arch = Arch::kX86_64}, "chmod"));
  EXPECT_FALSE(listed({.arch = Arch::kAarch64}, "chmod"));
  EXPECT_TRUE(listed({.arch = Arch::kAarch64}, "fchmodat"));
}

TEST(List, SaysWhatIsRefusedWhenAndWhy) {
  const std::vector<SyscallRule> lines = list({.arch = Arch::kX86_64});
  EXPECT_THAT(lines, Contains(SyscallRule{"clone3", "ENOSYS", "",
                                          "hidden arguments: its flags or mode lie in memory, the "
                                          "older call has registers"}));
  EXPECT_THAT(lines, Contains(SyscallRule{
                         "prlimit64", "EPERM", "pid is not 0, new_limit is not NULL",
                         "other processes: no Landlock rule keeps it from the user's other "
                         "processes"}));
  EXPECT_THAT(lines, Contains(SyscallRule{"socketpair", "EPROTONOSUPPORT",
                                          "domain is AF_UNIX, type is not SOCK_STREAM or "
                                          "SOCK_SEQPACKET",
                                          "network: an end of a datagram pair can be reconnected "
                                          "to any socket path"}));
  EXPECT_THAT(lines, Contains(SyscallRule{"(any)", "ENOSYS", "number above 469",
                                          "newer than this guard: not looked at yet"}));
}

TEST(List, FollowsTheSpec) {
  EXPECT_TRUE(listed({}, "ptrace"));
  EXPECT_FALSE(listed({.allow_ptrace = true}, "ptrace"));
  EXPECT_TRUE(listed({}, "listen"));
  EXPECT_FALSE(listed({.listen = true}, "listen"));
  EXPECT_FALSE(listed({}, "truncate"));
  EXPECT_TRUE(listed({.refuse_truncate = true}, "truncate"));
  EXPECT_FALSE(listed({}, "kill"));
  EXPECT_TRUE(listed({.refuse_kill_all = true}, "kill"));
}

}  // namespace
}  // namespace guard::seccomp
