// Makes the system call filter of a run. The only code that uses libseccomp.
//
// The filter is a deny list with ALLOW as its default, closed at the top: numbers above the newest
// that the tables know (syscall_sets.h) answer ENOSYS, so what a newer kernel adds is not there
// until somebody has looked at it. The rules come from syscall_sets.h and nowhere else.
//
// Two parts, one program. In front our own BPF (front.h): another architecture's entry (int 0x80)
// kills the process, x32 and unknown numbers answer ENOSYS, and it has the rules that look at
// arguments. Behind it what libseccomp makes of the calls that are refused whatever their
// arguments, as a binary tree. A kernel since 5.11 remembers which numbers are allowed whatever
// their arguments and does not run the program for those.
#pragma once

#include "common/base/result.h"
#include "common/sandbox/seccomp/filter_spec.h"
#include "common/sandbox/seccomp/program.h"

namespace guard::seccomp {

// The program to load with seccomp(2) after PR_SET_NO_NEW_PRIVS. Loads nothing itself, may be
// called from any thread, for any architecture on any host. Takes some milliseconds: callers keep
// what it returns. kInternal when libseccomp refuses a rule or a memory file cannot be made.
Result<Program> build_filter(const FilterSpec& spec);

}  // namespace guard::seccomp
