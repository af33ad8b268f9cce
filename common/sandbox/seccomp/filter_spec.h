// What a filter depends on, as a plain value: equal specs give equal filters.
#pragma once

#include "common/sandbox/seccomp/arch.h"

namespace guard::seccomp {

struct FilterSpec {
  Arch arch = kHostArch;

  // socket(2) of AF_INET and AF_INET6, SOCK_STREAM, TCP only. Give it when some TCP port is granted
  // and Landlock governs the ports (ABI 4, Linux 6.7): connect(2) and bind(2) are not filtered,
  // their address is in memory. Datagrams, MPTCP, SCTP and SMC stay refused, Landlock knows none of
  // them.
  bool inet_stream = false;

  // listen(2). Give it when a port may be bound. It also opens listening without bind(2), on a port
  // that the kernel chooses and no Landlock rule is asked about.
  bool listen = false;

  // ptrace(2) and process_vm_readv/writev(2), for debuggers. Landlock (any ABI) keeps them among
  // the processes of the run; without Landlock it opens every process of the user.
  bool allow_ptrace = false;

  // Stand-in below Landlock ABI 3 (Linux 6.2), which knows no right to truncate: refuses
  // truncate(2) and open(2) for reading with O_TRUNC. ftruncate(2) needs a descriptor open for
  // writing, hence a write grant, and stays, as do the truncating opens for writing.
  bool refuse_truncate = false;

  // Stand-in below Landlock ABI 6 (Linux 6.12), which knows no signal scope: refuses kill(-1, ...),
  // every process of the user at once. A signal to one outsider's pid or group is not told from one
  // to the run's own, so this is no replacement for the scope.
  bool refuse_kill_all = false;

  // For a program that shares the caller's terminal with nobody left to restore it: refuses the
  // ioctls that outlast the program (termios(3), window size, exclusive use, flow control). Reading
  // the modes, isatty(3) and job control stay.
  bool lock_terminal = false;

  friend bool operator==(const FilterSpec&, const FilterSpec&) = default;
};

}  // namespace guard::seccomp
