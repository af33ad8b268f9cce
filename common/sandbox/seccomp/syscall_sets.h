// The policy: which system calls a run is refused, when, with which errno, and why.
//
// Plain values. filter.h turns them into BPF, list() prints them: what `--list-syscalls` shows is
// what the filter does. A call that no rule names is allowed, up to kNewestNumber.
//
// The errno is the one with which programs go on best. ENOSYS where they know an older way (threads
// start by clone(2) when clone3(2) is missing; EPERM there would end them), EPERM where none
// exists, EAFNOSUPPORT and EPROTONOSUPPORT for sockets, EACCES for SysV IPC.
//
// Not here on purpose, since the filter cannot see what it would have to: the addresses of
// connect(2), bind(2) and sendto(2), the paths of anything. Changing attributes (chmod, chown,
// utime, setxattr) of the user's files anywhere is allowed, except for the setuid and setgid bits:
// Landlock has no right for it, and refusing it breaks compilers, git, tar, npm.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/sandbox/seccomp/filter_spec.h"

namespace guard::seccomp {

struct NamedValue {
  std::uint32_t value = 0;
  std::string_view name;
};

// A condition on one argument.
struct Condition {
  enum class Holds {
    kOneOf,    // (argument & mask) is one of the values; the low 32 bits count
    kNoneOf,   // (argument & mask) is none of the values; the low 32 bits count
    kAnyBit,   // the argument has a bit of a value; the low 32 bits count
    kNotNull,  // the argument is a pointer and not null: all 64 bits count
  };
  unsigned argument = 0;  // 0 to 5
  std::string_view name;  // as the man page calls the argument
  Holds holds = Holds::kOneOf;
  std::uint32_t mask = 0xffffffff;
  std::vector<NamedValue> values;
};

struct Rule {
  std::string_view syscall;
  int error = 0;                // errno of the refused call
  std::vector<Condition> when;  // all of them hold; empty: always
  std::string_view group;       // "other processes", "kernel surface", ...
  std::string_view reason;      // a clause
};

// Every rule for the spec. Two rules for one call never hold together unless they have the same
// errno. Calls that `spec.arch` does not have are left out.
std::vector<Rule> rules(const FilterSpec& spec);

// One line for people: name, verdict ("EPERM"), condition ("" is always), reason.
struct SyscallRule {
  std::string name;
  std::string verdict;
  std::string condition;
  std::string reason;
  friend bool operator==(const SyscallRule&, const SyscallRule&) = default;
};

// What the filter for the spec refuses, what it does with foreign and unknown numbers included.
std::vector<SyscallRule> list(const FilterSpec& spec);

}  // namespace guard::seccomp
