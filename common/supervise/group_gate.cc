#include "common/supervise/group_gate.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/check.h"
#include "common/os/raw_syscall.h"
#include "common/sandbox/seccomp/syscall_numbers.h"

namespace guard::supervise {
namespace {

using os::raw_syscall;
using seccomp::Arch;

// The 32-bit mode of the architecture; in both the two calls have i386's numbers.
constexpr std::uint32_t compat_arch(Arch arch) {
  return arch == Arch::kX86_64 ? AUDIT_ARCH_I386 : AUDIT_ARCH_ARM;
}
constexpr std::uint32_t kCompatSetpgid = 57;
constexpr std::uint32_t kCompatSetsid = 66;
constexpr std::uint32_t kX32Bit = 0x40000000;

// The kernel fills structures of its own size: one that has grown would not fit ours.
bool sizes_are_ours() noexcept {
  seccomp_notif_sizes sizes{};
  return raw_syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
         sizes.seccomp_notif <= sizeof(seccomp_notif) &&
         sizes.seccomp_notif_resp <= sizeof(seccomp_notif_resp);
}

}  // namespace

Result<seccomp::Program> group_gate_filter(Arch arch) {
  seccomp::Assembler code;
  const auto native = code.label();
  const auto compat = code.label();
  const auto ask = code.label();
  code.load(seccomp::kArchOffset);
  code.if_equal(seccomp::audit_arch(arch), native);
  code.if_equal(compat_arch(arch), compat);
  code.ret(SECCOMP_RET_ALLOW);
  code.bind(native);
  code.load(seccomp::kNumberOffset);
  if (arch == Arch::kX86_64) code.mask(~kX32Bit);
  for (const char* call : {"setpgid", "setsid"}) {
    const auto number = seccomp::number_of(call, arch);
    GUARD_CHECK(number.has_value());
    if (number) code.if_equal(static_cast<std::uint32_t>(*number), ask);
  }
  code.ret(SECCOMP_RET_ALLOW);
  code.bind(compat);
  code.load(seccomp::kNumberOffset);
  code.if_equal(kCompatSetpgid, ask);
  code.if_equal(kCompatSetsid, ask);
  code.ret(SECCOMP_RET_ALLOW);
  code.bind(ask);
  code.ret(SECCOMP_RET_USER_NOTIF);
  return code.finish();
}

long load_group_gate(const sock_fprog& filter) noexcept {
  if (!sizes_are_ours()) return -EINVAL;
  if (const long set = raw_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); set < 0) return set;
  // Once it was received, only a fatal signal interrupts the call (Linux 5.19).
  const unsigned long patient =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  long listener = raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, patient, &filter);
  if (listener == -EINVAL)
    listener = raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                           &filter);
  return listener;
}

void GroupGate::answer(short events) {
  if ((events & POLLIN) != 0) {
    seccomp_notif call{};  // the kernel insists on zeroes
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
      if (errno != ENOENT && errno != EINTR) listener_.reset();  // it is no listener
      return;
    }
    seccomp_notif_resp go_on{};
    go_on.id = call.id;
    go_on.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    // ENOENT: the caller is gone, or was interrupted and asks again.
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &go_on) == 0) proven_ = true;
  } else if (events != 0) {
    listener_.reset();  // nobody is behind it any more
  }
}

void kill_group_of(pid_t child) {
  const pid_t group = ::getpgid(child);
  if (group > 1 && group != ::getpgrp()) (void)::kill(-group, SIGKILL);
}

}  // namespace guard::supervise
