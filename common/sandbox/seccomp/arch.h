// The architectures that a filter can be built for, on any host.
#pragma once

#include <linux/audit.h>

#include <cstdint>
#include <string_view>

namespace guard::seccomp {

enum class Arch { kX86_64, kAarch64 };

// The one this code was compiled for.
#if defined(__x86_64__) && !defined(__ILP32__)
inline constexpr Arch kHostArch = Arch::kX86_64;
#elif defined(__aarch64__)
inline constexpr Arch kHostArch = Arch::kAarch64;
#else
#error "guardd has system call tables for x86-64 and aarch64 only"
#endif

// What seccomp_data.arch holds, seccomp(2).
constexpr std::uint32_t audit_arch(Arch arch) {
  return arch == Arch::kX86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
}

constexpr std::string_view name(Arch arch) { return arch == Arch::kX86_64 ? "x86_64" : "aarch64"; }

}  // namespace guard::seccomp
