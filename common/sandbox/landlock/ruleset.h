// A Landlock ruleset: a descriptor that collects rules and then restricts processes.
//
// A ruleset pins the inodes of its rules and may restrict any number of processes, in other
// processes too. What it handles and does not grant is refused for good: a domain never comes off.
// No rule is ever left out: every failure is an Error.
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/sandbox/landlock/rights.h"

namespace guard::landlock {

// The running kernel's ABI, >= 1, or a negative errno: -ENOSYS without Landlock, -EOPNOTSUPP when
// it was not enabled at boot. No errno is touched.
int abi_version() noexcept;
// Bit n-1: erratum n is fixed. 0 where the query does not exist (before ABI 7).
std::uint32_t errata() noexcept;

// `handled` must hold something (ENOMSG otherwise) and nothing that the kernel does not know
// (EINVAL).
Result<os::UniqueFd> create_ruleset(const Handled& handled);

// Grants `rights` on what `node` (an O_PATH descriptor) refers to and everything below. EINVAL: a
// right that the ruleset does not handle, or a directory's right on something that is none.
Result<> allow_path(int ruleset, int node, std::uint64_t rights);
Result<> allow_port(int ruleset, std::uint16_t port, std::uint64_t rights);

// The monitor's own domain: it scopes signals and refuses nothing else. It must grant REFER on "/",
// which every layer denies by default, or no rename across directories works inside it. ABI 6.
Result<os::UniqueFd> signal_scope_ruleset();

// landlock_restrict_self(2) on the calling thread: 0 or a negative errno. -E2BIG: 16 layers are on
// already. -EPERM: PR_SET_NO_NEW_PRIVS is missing. Raw: may run between fork and exec.
int restrict_self(int ruleset) noexcept;

}  // namespace guard::landlock
