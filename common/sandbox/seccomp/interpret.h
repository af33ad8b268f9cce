// Runs a filter on a made-up system call: for tests, and to explain a denial.
#pragma once

#include <linux/seccomp.h>

#include <cstdint>

#include "common/base/result.h"
#include "common/sandbox/seccomp/program.h"

namespace guard::seccomp {

// The action that the kernel would get (SECCOMP_RET_*, with its data). kInvalid when check()
// refuses the program. Division by a zero register ends the program with 0, as in the kernel, which
// is SECCOMP_RET_KILL_THREAD.
Result<std::uint32_t> interpret(const Program& program, const seccomp_data& call);

}  // namespace guard::seccomp
