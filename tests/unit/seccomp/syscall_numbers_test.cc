#include "common/sandbox/seccomp/syscall_numbers.h"

#include <seccomp.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/seccomp/made_up_call.h"

namespace guard::seccomp {
namespace {

// libseccomp's name for a number; empty when it has none.
std::string peer_name(Arch arch, int number) {
  const std::uint32_t token = arch == Arch::kX86_64 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64;
  const std::unique_ptr<char, void (*)(void*)> name(seccomp_syscall_resolve_num_arch(token, number),
                                                    ::free);
  return name ? name.get() : "";
}

TEST(SyscallNumbers, AreLibseccompsUpToTheNewestThatItKnows) {
  for (const Arch arch : kBothArchs) {
    for (int number = 0; number <= kNewestNumberOfLibseccomp; ++number) {
      if (arch == Arch::kX86_64 && (number == 335 || number == 336)) continue;  // uretprobe, uprobe
      EXPECT_EQ(name_of(number, arch), peer_name(arch, number)) << name(arch) << " " << number;
    }
  }
}

TEST(SyscallNumbers, AreTheHeadersForThisMachine) {
  EXPECT_EQ(number_of("openat", kHostArch), SYS_openat);
  EXPECT_EQ(number_of("clone", kHostArch), SYS_clone);
  EXPECT_EQ(number_of("seccomp", kHostArch), SYS_seccomp);
  EXPECT_EQ(number_of("process_mrelease", kHostArch), SYS_process_mrelease);
}

TEST(SyscallNumbers, HaveEveryNumberFromLibseccompsNewestToOurs) {
  for (const Arch arch : kBothArchs) {
    for (int number = kNewestNumberOfLibseccomp; number <= kNewestNumber; ++number) {
      EXPECT_NE(name_of(number, arch), "") << number;
    }
    EXPECT_EQ(name_of(kNewestNumber + 1, arch), "");
    EXPECT_EQ(name_of(-1, arch), "");
  }
}

TEST(SyscallNumbers, LeaveOutWhatAnArchitectureLacks) {
  EXPECT_EQ(number_of("open", Arch::kX86_64), 2);
  EXPECT_EQ(number_of("open", Arch::kAarch64), std::nullopt);
  EXPECT_EQ(number_of("no_such_call", Arch::kX86_64), std::nullopt);
}

}  // namespace
}  // namespace guard::seccomp
