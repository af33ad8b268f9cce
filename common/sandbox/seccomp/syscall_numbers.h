// System call numbers by name, for both architectures, whatever the host is.
//
// Our own table, since libseccomp 2.5.4 stops at Linux 6.6 and the host's headers earlier.
#pragma once

#include <optional>
#include <string_view>

#include "common/sandbox/seccomp/arch.h"

namespace guard::seccomp {

// The newest number in the table (Linux 6.17). New calls have the same number on both
// architectures. Filters answer ENOSYS above it. Raising it means reading what each new call can
// do.
inline constexpr int kNewestNumber = 469;

// Numbers up to this one are libseccomp 2.5.4's too, by name; the tests compare. Two are not
// (x86-64's uretprobe and uprobe), and no rule needs them.
inline constexpr int kNewestNumberOfLibseccomp = 450;

// Nothing when the architecture has no such call, or nobody has.
std::optional<int> number_of(std::string_view name, Arch arch);

// Empty when the number is not in the table.
std::string_view name_of(int number, Arch arch);

}  // namespace guard::seccomp
