// The part of the filter that we write ourselves: what libseccomp cannot say, or not well.
//
// Its comparisons are of 64 bits, while the kernel looks at 32 of an int argument: an exact "this
// family" lets socket(AF_UNIX | 1ul << 32, ...) through, and "none of these" takes it dozens of
// masked comparisons each. Here a comparison is what it should be, one instruction on the low half.
// Nor does libseccomp 2.5.4 know calls above number 450, or "every number above N".
#pragma once

#include <span>

#include "common/base/result.h"
#include "common/sandbox/seccomp/program.h"
#include "common/sandbox/seccomp/syscall_sets.h"

namespace guard::seccomp {

// True: the rule belongs in front, else libseccomp makes it.
bool belongs_in_front(const Rule& rule, Arch arch);

// Kills the process on another architecture's entry, answers ENOSYS above kNewestNumber (x32 too),
// decides every call that `rules` name, and falls out at its end, for concatenate(), with any
// other.
Result<Program> front(Arch arch, std::span<const Rule> rules);

}  // namespace guard::seccomp
