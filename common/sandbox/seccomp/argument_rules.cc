#include "common/sandbox/seccomp/argument_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <utility>

namespace guard::seccomp {
namespace {

constexpr std::uint32_t kAllBits = 0xffffffff;
constexpr std::uint32_t kSocketTypeBits = 0xf;  // above it SOCK_CLOEXEC and SOCK_NONBLOCK

// The kernel looks at open's mode with either; O_TMPFILE is this bit and O_DIRECTORY.
constexpr std::uint32_t kTmpfileBit = 020000000;
// F_SETDELEG, Linux 6.19; newer than our headers.
constexpr std::uint32_t kSetDelegation = 1040;

Condition one_of(unsigned argument, std::string_view name, std::vector<NamedValue> values,
                 std::uint32_t mask = kAllBits) {
  return {argument, name, Condition::Holds::kOneOf, mask, std::move(values)};
}

Condition none_of(unsigned argument, std::string_view name, std::vector<NamedValue> values,
                  std::uint32_t mask = kAllBits) {
  return {argument, name, Condition::Holds::kNoneOf, mask, std::move(values)};
}

Condition any_bit(unsigned argument, std::string_view name, std::vector<NamedValue> bits) {
  return {argument, name, Condition::Holds::kAnyBit, kAllBits, std::move(bits)};
}

Condition not_null(unsigned argument, std::string_view name) {
  return {argument, name, Condition::Holds::kNotNull, kAllBits, {}};
}

Condition not_self(std::string_view name, unsigned argument = 0) {
  return none_of(argument, name, {{0, "0"}});
}

const NamedValue kUnix{AF_UNIX, "AF_UNIX"};
const std::vector<NamedValue> kInternet = {{AF_INET, "AF_INET"}, {AF_INET6, "AF_INET6"}};
const std::vector<NamedValue> kGrantable = {kUnix, kInternet[0], kInternet[1]};
const NamedValue kStream{SOCK_STREAM, "SOCK_STREAM"};
const NamedValue kSeqpacket{SOCK_SEQPACKET, "SOCK_SEQPACKET"};

void sockets(const FilterSpec& spec, std::vector<Rule>& rules) {
  constexpr std::string_view kGroup = "network";
  rules.push_back({"socket",
                   EAFNOSUPPORT,
                   {none_of(0, "domain", kGrantable)},
                   kGroup,
                   "families that no policy grants: netlink, packet, vsock, ..."});
  if (!spec.inet_stream) {
    rules.push_back({"socket",
                     EPERM,
                     {one_of(0, "domain", kGrantable)},
                     kGroup,
                     "no network granted, and a Unix socket reaches any service of the user"});
  } else {
    rules.push_back({"socket",
                     EPERM,
                     {one_of(0, "domain", {kUnix})},
                     kGroup,
                     "a Unix socket reaches any service of the user"});
    rules.push_back(
        {"socket",
         EPERM,
         {one_of(0, "domain", kInternet), none_of(1, "type", {kStream}, kSocketTypeBits)},
         kGroup,
         "Landlock's port rules do not govern UDP and raw sockets"});
    // EPROTONOSUPPORT is what programs that try MPTCP first take for "use TCP".
    rules.push_back({"socket",
                     EPROTONOSUPPORT,
                     {one_of(0, "domain", kInternet), one_of(1, "type", {kStream}, kSocketTypeBits),
                      none_of(2, "protocol", {{0, "0"}, {IPPROTO_TCP, "IPPROTO_TCP"}})},
                     kGroup,
                     "Landlock's port rules do not govern MPTCP, SCTP and SMC"});
  }
  rules.push_back({"socketpair",
                   EAFNOSUPPORT,
                   {none_of(0, "domain", {kUnix})},
                   kGroup,
                   "only Unix sockets come in pairs that programs use"});
  rules.push_back(
      {"socketpair",
       EPROTONOSUPPORT,
       {one_of(0, "domain", {kUnix}), none_of(1, "type", {kStream, kSeqpacket}, kSocketTypeBits)},
       kGroup,
       "an end of a datagram pair can be reconnected to any socket path"});
  if (!spec.listen) {
    rules.push_back({"listen",
                     EPERM,
                     {},
                     kGroup,
                     "no port granted, and without bind(2) no Landlock rule is asked"});
  }
  const NamedValue fast_open{MSG_FASTOPEN, "MSG_FASTOPEN"};
  constexpr std::string_view kFastOpen = "connects without connect(2), past Landlock's port rules";
  rules.push_back({"sendto", EOPNOTSUPP, {any_bit(3, "flags", {fast_open})}, kGroup, kFastOpen});
  rules.push_back({"sendmsg", EOPNOTSUPP, {any_bit(2, "flags", {fast_open})}, kGroup, kFastOpen});
  rules.push_back({"sendmmsg", EOPNOTSUPP, {any_bit(3, "flags", {fast_open})}, kGroup, kFastOpen});
  // TCP_FASTOPEN_CONNECT needs no rule: its connect(2) is checked and its address kept.
  rules.push_back({"setsockopt",
                   ENOPROTOOPT,
                   {one_of(1, "level", {{IPPROTO_TCP, "IPPROTO_TCP"}}),
                    one_of(2, "optname", {{TCP_ULP, "TCP_ULP"}})},
                   kGroup,
                   "turns a TCP socket into SMC, past Landlock's port rules"});
}

// The bits that let another uid run what the run wrote as the run's uid.
void setuid_bits(std::vector<Rule>& rules) {
  constexpr std::string_view kGroup = "setuid files";
  constexpr std::string_view kReason = "leaves a door to this uid for every other uid";
  const auto mode = [](unsigned argument) {
    return any_bit(argument, "mode", {{S_ISUID, "S_ISUID"}, {S_ISGID, "S_ISGID"}});
  };
  const std::pair<std::string_view, unsigned> calls[] = {
      {"chmod", 1}, {"fchmod", 1},  {"fchmodat", 2}, {"fchmodat2", 2}, {"creat", 1},
      {"mkdir", 1}, {"mkdirat", 2}, {"mknod", 1},    {"mknodat", 2},
  };
  for (const auto& [syscall, argument] : calls) {
    rules.push_back({syscall, EPERM, {mode(argument)}, kGroup, kReason});
  }
  // Without O_CREAT and O_TMPFILE nobody sets the mode register: it may hold anything.
  const std::vector<NamedValue> creating = {{O_CREAT, "O_CREAT"}, {kTmpfileBit, "O_TMPFILE"}};
  rules.push_back({"open", EPERM, {any_bit(1, "flags", creating), mode(2)}, kGroup, kReason});
  rules.push_back({"openat", EPERM, {any_bit(2, "flags", creating), mode(3)}, kGroup, kReason});
}

void opening(const FilterSpec& spec, std::vector<Rule>& rules) {
  constexpr std::string_view kGroup = "files";
  const std::pair<std::string_view, unsigned> calls[] = {{"open", 1}, {"openat", 2}};
  for (const auto& [syscall, flags] : calls) {
    // Both access bits: neither readable nor writable, so Landlock asks for no right at all, and
    // yet good for the device's ioctls and, with O_TRUNC below ABI 3, for emptying the file.
    rules.push_back({syscall,
                     EPERM,
                     {one_of(flags, "flags", {{O_ACCMODE, "access mode 3"}}, O_ACCMODE | O_PATH)},
                     kGroup,
                     "opens any file past Landlock's rules"});
    if (!spec.refuse_truncate) continue;
    rules.push_back({syscall,
                     EPERM,
                     {one_of(flags, "flags", {{O_RDONLY | O_TRUNC, "O_RDONLY|O_TRUNC"}},
                             O_ACCMODE | O_TRUNC | O_PATH)},
                     kGroup,
                     "this kernel's Landlock does not govern truncation"});
  }
  if (spec.refuse_truncate) {
    rules.push_back(
        {"truncate", EACCES, {}, kGroup, "this kernel's Landlock does not govern truncation"});
  }
  // 1 << 2: RENAME_WHITEOUT.
  rules.push_back({"renameat2",
                   EINVAL,
                   {any_bit(4, "flags", {{1u << 2, "RENAME_WHITEOUT"}})},
                   kGroup,
                   "makes a device node without Landlock's MAKE_CHAR"});
  rules.push_back(
      {"fcntl",
       EPERM,
       {one_of(
           1, "cmd",
           {{F_SETLEASE, "F_SETLEASE"}, {F_NOTIFY, "F_NOTIFY"}, {kSetDelegation, "F_SETDELEG"}})},
       kGroup,
       "holds up writers outside, watches directories"});
}

// Landlock's IOCTL_DEV governs devices only, and no ioctl of a file. The numbers are the same on
// both architectures. tests/unit/seccomp compares them with the kernel's headers.
void ioctls(const FilterSpec& spec, std::vector<Rule>& rules) {
  rules.push_back({"ioctl",
                   EPERM,
                   {one_of(1, "request", {{0x5412, "TIOCSTI"}, {0x541c, "TIOCLINUX"}})},
                   "terminal",
                   "types into the terminal of the user"});
  rules.push_back({"ioctl",
                   EPERM,
                   {one_of(1, "request", {{0x541d, "TIOCCONS"}, {0x5423, "TIOCSETD"}})},
                   "terminal",
                   "takes over the console; line disciplines load kernel modules"});
  if (spec.lock_terminal) {
    rules.push_back({"ioctl",
                     EPERM,
                     {one_of(1, "request",
                             {{0x5402, "TCSETS"},
                              {0x5403, "TCSETSW"},
                              {0x5404, "TCSETSF"},
                              {0x5406, "TCSETA"},
                              {0x5407, "TCSETAW"},
                              {0x5408, "TCSETAF"},
                              {0x540a, "TCXONC"},
                              {0x540c, "TIOCEXCL"},
                              {0x5414, "TIOCSWINSZ"},
                              {0x5457, "TIOCSLCKTRMIOS"},
                              {0x402c542b, "TCSETS2"},
                              {0x402c542c, "TCSETSW2"},
                              {0x402c542d, "TCSETSF2"}})},
                     "terminal",
                     "leaves the terminal of the user broken when the program ends"});
  }
  rules.push_back({"ioctl",
                   EPERM,
                   {one_of(1, "request",
                           {{0x40086602, "FS_IOC_SETFLAGS"},
                            {0x40046602, "FS_IOC32_SETFLAGS"},
                            {0x401c5820, "FS_IOC_FSSETXATTR"},
                            {0x40087602, "FS_IOC_SETVERSION"},
                            {0x40047602, "FS_IOC32_SETVERSION"},
                            {0x40086604, "EXT4_IOC_SETVERSION"},
                            {0x40046604, "EXT4_IOC32_SETVERSION"},
                            {0x40806685, "FS_IOC_ENABLE_VERITY"},
                            {0x800c6613, "FS_IOC_SET_ENCRYPTION_POLICY"},
                            {0x40047211, "FAT_IOCTL_SET_ATTRIBUTES"}})},
                   "files",
                   "changes a file through a descriptor that is open for reading"});
  rules.push_back({"ioctl",
                   EPERM,
                   {one_of(1, "request",
                           {{0x50009401, "BTRFS_IOC_SNAP_CREATE"},
                            {0x50009417, "BTRFS_IOC_SNAP_CREATE_V2"},
                            {0x5000940e, "BTRFS_IOC_SUBVOL_CREATE"},
                            {0x50009418, "BTRFS_IOC_SUBVOL_CREATE_V2"},
                            {0x5000940f, "BTRFS_IOC_SNAP_DESTROY"},
                            {0x5000943f, "BTRFS_IOC_SNAP_DESTROY_V2"},
                            {0x4008941a, "BTRFS_IOC_SUBVOL_SETFLAGS"},
                            {0xc0c89425, "BTRFS_IOC_SET_RECEIVED_SUBVOL"}})},
                   "files",
                   "makes and removes subvolumes without Landlock's directory rights"});
}

void processes(const FilterSpec& spec, std::vector<Rule>& rules) {
  rules.push_back({"clone",
                   EPERM,
                   {any_bit(0, "flags",
                            {{CLONE_NEWNS, "CLONE_NEWNS"},
                             {CLONE_NEWCGROUP, "CLONE_NEWCGROUP"},
                             {CLONE_NEWUTS, "CLONE_NEWUTS"},
                             {CLONE_NEWIPC, "CLONE_NEWIPC"},
                             {CLONE_NEWUSER, "CLONE_NEWUSER"},
                             {CLONE_NEWPID, "CLONE_NEWPID"},
                             {CLONE_NEWNET, "CLONE_NEWNET"},
                             {CLONE_PARENT, "CLONE_PARENT"}})},
                   "namespaces",
                   "a user namespace gives all capabilities in it; the child of one's "
                   "parent is nobody's to reap"});
  constexpr std::string_view kOthers = "other processes";
  constexpr std::string_view kReason = "no Landlock rule keeps it from the user's other processes";
  for (const std::string_view syscall :
       {"sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"}) {
    rules.push_back({syscall, EPERM, {not_self("pid")}, kOthers, kReason});
  }
  rules.push_back(
      {"prlimit64", EPERM, {not_self("pid"), not_null(2, "new_limit")}, kOthers, kReason});
  // A process group may hold the caller of xenarch-guard, a uid holds all of the user's processes.
  rules.push_back({"setpriority",
                   EPERM,
                   {none_of(0, "which", {{PRIO_PROCESS, "PRIO_PROCESS"}})},
                   kOthers,
                   kReason});
  rules.push_back({"setpriority",
                   EPERM,
                   {one_of(0, "which", {{PRIO_PROCESS, "PRIO_PROCESS"}}), not_self("who", 1)},
                   kOthers,
                   kReason});
  const NamedValue process{IOPRIO_WHO_PROCESS, "IOPRIO_WHO_PROCESS"};
  rules.push_back({"ioprio_set", EPERM, {none_of(0, "which", {process})}, kOthers, kReason});
  rules.push_back(
      {"ioprio_set", EPERM, {one_of(0, "which", {process}), not_self("who", 1)}, kOthers, kReason});
  rules.push_back({"prctl",
                   EINVAL,
                   {one_of(0, "option", {{PR_SCHED_CORE, "PR_SCHED_CORE"}})},
                   kOthers,
                   "keeps everybody else off the core's other threads"});
  if (spec.refuse_kill_all) {
    rules.push_back({"kill",
                     EPERM,
                     {one_of(0, "pid", {{kAllBits, "-1"}})},
                     kOthers,
                     "this kernel's Landlock does not scope signals"});
  }
  rules.push_back({"seccomp",
                   EBUSY,
                   {one_of(0, "operation", {{SECCOMP_SET_MODE_FILTER, "SECCOMP_SET_MODE_FILTER"}}),
                    any_bit(1, "flags", {{SECCOMP_FILTER_FLAG_NEW_LISTENER, "NEW_LISTENER"}})},
                   "kernel surface",
                   "one listener in a chain of filters, and it is the guard's"});
}

}  // namespace

std::vector<Rule> argument_rules(const FilterSpec& spec) {
  std::vector<Rule> rules;
  sockets(spec, rules);
  setuid_bits(rules);
  opening(spec, rules);
  ioctls(spec, rules);
  processes(spec, rules);
  return rules;
}

}  // namespace guard::seccomp
