#include "common/sandbox/seccomp/syscall_sets.h"

#include <errno.h>
#include <string.h>

#include <utility>

#include <fmt/format.h>

#include "common/sandbox/seccomp/argument_rules.h"
#include "common/sandbox/seccomp/syscall_numbers.h"

namespace guard::seccomp {
namespace {

// Calls that are refused whatever their arguments.
struct Set {
  int error;
  std::string_view group;
  std::string_view reason;
  std::vector<std::string_view> syscalls;
};

// ptrace(2)'s own errno for "not yours".
const Set kTracing = {EPERM,
                      "tracing",
                      "reads and changes other processes",
                      {"ptrace", "process_vm_readv", "process_vm_writev"}};

const Set kSets[] = {
    {EPERM,
     "other processes",
     "reads, copies or moves what other processes have",
     {"pidfd_getfd", "kcmp", "process_madvise", "process_mrelease", "move_pages", "migrate_pages"}},
    {EPERM,
     "keys",
     "the kernel's key rings belong to the user, not to the run",
     {"keyctl", "add_key", "request_key"}},
    {EACCES,
     "SysV IPC",
     "shared with every process of the user, and no Landlock rule applies",
     {"shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl", "msgget",
      "msgsnd", "msgrcv", "msgctl"}},
    {ENOSYS,
     "POSIX queues",
     "message queues are shared with every process of the user",
     {"mq_open", "mq_unlink", "mq_notify", "mq_timedsend", "mq_timedreceive", "mq_getsetattr"}},
    {EPERM,
     "namespaces",
     "enters or makes namespaces, which brings capabilities",
     {"unshare", "setns"}},
    {EPERM,
     "mounts",
     "changes what paths mean",
     {"mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount",
      "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"}},
    {ENOSYS, "mounts", "tells about mounts outside the grants", {"statmount", "listmount"}},
    {EPERM,
     "file handles",
     "names files past the paths that Landlock knows",
     {"open_by_handle_at", "name_to_handle_at"}},
    {EPERM,
     "file watching",
     "tells about files outside the grants",
     {"fanotify_init", "fanotify_mark"}},
    {EPERM, "files", "changes attributes of a file that is only readable", {"file_setattr"}},
    {ENOSYS,
     "files",
     "new spelling of an older call, which serves",
     {"setxattrat", "removexattrat"}},
    {ENOSYS,
     "hidden arguments",
     "its flags or mode lie in memory, the older call has registers",
     {"clone3", "openat2"}},
    {ENOSYS,
     "io_uring",
     "does by a queue in memory what the filter refuses as system calls",
     {"io_uring_setup", "io_uring_enter", "io_uring_register"}},
    {EPERM,
     "kernel surface",
     "rarely used, often the way into the kernel",
     {"bpf", "perf_event_open", "userfaultfd", "modify_ldt", "lookup_dcookie", "uselib", "_sysctl",
      "sysfs", "ustat"}},
    {ENOSYS, "kernel surface", "memory that nobody else can look at", {"memfd_secret"}},
    {EPERM,
     "administration",
     "runs the machine, not a program",
     {"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
      "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "iopl", "ioperm", "syslog",
      "sethostname", "setdomainname", "settimeofday", "clock_settime", "vhangup"}},
};

void add(const Set& set, std::vector<Rule>& rules) {
  for (const std::string_view syscall : set.syscalls) {
    rules.push_back({syscall, set.error, {}, set.group, set.reason});
  }
}

// "A", "A or B", "A, B or C"
std::string alternatives(const std::vector<NamedValue>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += i + 1 == values.size() ? " or " : ", ";
    text += values[i].name;
  }
  return text;
}

std::string text_of(const Condition& condition) {
  switch (condition.holds) {
    case Condition::Holds::kOneOf:
      return fmt::format("{} is {}", condition.name, alternatives(condition.values));
    case Condition::Holds::kNoneOf:
      return fmt::format("{} is not {}", condition.name, alternatives(condition.values));
    case Condition::Holds::kAnyBit:
      return fmt::format("{} has {}", condition.name, alternatives(condition.values));
    case Condition::Holds::kNotNull:
      break;
  }
  return fmt::format("{} is not NULL", condition.name);
}

std::string text_of(const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& condition : conditions) {
    if (!text.empty()) text += ", ";
    text += text_of(condition);
  }
  return text;
}

}  // namespace

std::vector<Rule> rules(const FilterSpec& spec) {
  std::vector<Rule> all;
  if (!spec.allow_ptrace) add(kTracing, all);
  for (const Set& set : kSets) add(set, all);
  for (Rule& rule : argument_rules(spec)) all.push_back(std::move(rule));
  std::erase_if(all, [&](const Rule& rule) { return !number_of(rule.syscall, spec.arch); });
  return all;
}

std::vector<SyscallRule> list(const FilterSpec& spec) {
  std::vector<SyscallRule> lines;
  for (const Rule& rule : rules(spec)) {
    lines.push_back({std::string(rule.syscall), strerrorname_np(rule.error), text_of(rule.when),
                     fmt::format("{}: {}", rule.group, rule.reason)});
  }
  lines.push_back({"(any)", "ENOSYS", fmt::format("number above {}", kNewestNumber),
                   "newer than this guard: not looked at yet"});
  if (spec.arch == Arch::kX86_64) {
    lines.push_back(
        {"(any)", "ENOSYS", "number of the x32 ABI", "another spelling of every call above"});
  }
  lines.push_back({"(any)", "KILL_PROCESS", "entry of another architecture, as int 0x80",
                   "another spelling of every call above"});
  return lines;
}

}  // namespace guard::seccomp
