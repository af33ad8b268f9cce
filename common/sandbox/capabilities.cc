#include "common/sandbox/capabilities.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>

#include "common/os/raw_syscall.h"

namespace guard::sandbox {
namespace {

using os::raw_syscall;

// Words of 32 capabilities; memory that may be used after fork needs no initialization order.
struct Sets {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3] = {};
};

constexpr long kLockedBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                             SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                             SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

// EPERM: the caller lacks CAP_SETPCAP, and then NO_NEW_PRIVS does it. EINVAL ends the list.
int empty_bounding_set() noexcept {
  for (long capability = 0; capability < 64; ++capability) {
    const long result = raw_syscall(SYS_prctl, PR_CAPBSET_DROP, capability, 0, 0, 0);
    if (result == -EINVAL || result == -EPERM) return 0;
    if (result < 0) return static_cast<int>(-result);
  }
  return 0;
}

}  // namespace

int drop_capabilities() noexcept {
  const long ambient = raw_syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (ambient < 0 && ambient != -EINVAL) return static_cast<int>(-ambient);
  if (const int error = empty_bounding_set(); error != 0) return error;
  const long bits = raw_syscall(SYS_prctl, PR_SET_SECUREBITS, kLockedBits, 0, 0, 0);
  if (bits < 0 && bits != -EPERM) return static_cast<int>(-bits);
  Sets none;
  const long result = raw_syscall(SYS_capset, &none.header, none.words);
  return static_cast<int>(-result);
}

bool has_no_capabilities() noexcept {
  Sets now;
  if (raw_syscall(SYS_capget, &now.header, now.words) < 0) return false;
  for (const __user_cap_data_struct& word : now.words) {
    if ((word.effective | word.permitted | word.inheritable) != 0) return false;
  }
  return true;
}

}  // namespace guard::sandbox
