// Landlock's kernel interface, up to ABI 11. Our own constants: Debian 12's <linux/landlock.h>
// stops at ABI 2. Numbers and layouts are the kernel's and never change (landlock(7)).
#pragma once

#include <cstdint>

namespace guard::landlock {

// File-system rights. A right that a ruleset handles is refused below no rule that grants it.
inline constexpr std::uint64_t kExecute = 1ULL << 0;
inline constexpr std::uint64_t kWriteFile = 1ULL << 1;
inline constexpr std::uint64_t kReadFile = 1ULL << 2;
inline constexpr std::uint64_t kReadDir = 1ULL << 3;
inline constexpr std::uint64_t kRemoveDir = 1ULL << 4;
inline constexpr std::uint64_t kRemoveFile = 1ULL << 5;
inline constexpr std::uint64_t kMakeChar = 1ULL << 6;
inline constexpr std::uint64_t kMakeDir = 1ULL << 7;
inline constexpr std::uint64_t kMakeReg = 1ULL << 8;
inline constexpr std::uint64_t kMakeSock = 1ULL << 9;
inline constexpr std::uint64_t kMakeFifo = 1ULL << 10;
inline constexpr std::uint64_t kMakeBlock = 1ULL << 11;
inline constexpr std::uint64_t kMakeSym = 1ULL << 12;
// ABI 2. Rename and link across directories. The one right that every layer refuses, whether it
// handles it or not, unless it grants it.
inline constexpr std::uint64_t kRefer = 1ULL << 13;
inline constexpr std::uint64_t kTruncate = 1ULL << 14;     // ABI 3
inline constexpr std::uint64_t kIoctlDev = 1ULL << 15;     // ABI 5; character and block devices
inline constexpr std::uint64_t kResolveUnix = 1ULL << 16;  // ABI 9; connect to a socket file

// Network rights, by port.
inline constexpr std::uint64_t kBindTcp = 1ULL << 0;         // ABI 4
inline constexpr std::uint64_t kConnectTcp = 1ULL << 1;      // ABI 4
inline constexpr std::uint64_t kBindUdp = 1ULL << 2;         // ABI 10
inline constexpr std::uint64_t kConnectSendUdp = 1ULL << 3;  // ABI 10

// Scopes: what a process may not do to one outside its domain. ABI 6.
inline constexpr std::uint64_t kScopeAbstractUnix = 1ULL << 0;
inline constexpr std::uint64_t kScopeSignal = 1ULL << 1;

// An older kernel takes the longer struct as long as what it does not know is zero.
struct RulesetAttr {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};

struct [[gnu::packed]] PathBeneathAttr {
  std::uint64_t allowed_access = 0;
  std::int32_t parent_fd = -1;
};

struct NetPortAttr {
  std::uint64_t allowed_access = 0;
  std::uint64_t port = 0;
};

inline constexpr int kRulePathBeneath = 1;
inline constexpr int kRuleNetPort = 2;

inline constexpr std::uint32_t kCreateRulesetVersion = 1U << 0;
inline constexpr std::uint32_t kCreateRulesetErrata = 1U << 1;

// The same on every architecture (they came with the unified numbering, Linux 5.13).
inline constexpr long kSysCreateRuleset = 444;
inline constexpr long kSysAddRule = 445;
inline constexpr long kSysRestrictSelf = 446;

}  // namespace guard::landlock
