#include "common/sandbox/report.h"

#include <utility>

namespace guard::sandbox {

std::string_view name_of(Protection protection) {
  switch (protection) {
    case Protection::kNoNewPrivs:
      return "no_new_privs";
    case Protection::kFileAccess:
      return "file_access";
    case Protection::kTruncate:
      return "truncate";
    case Protection::kDeviceIoctl:
      return "device_ioctl";
    case Protection::kNetwork:
      return "network";
    case Protection::kUnixSockets:
      return "unix_sockets";
    case Protection::kSignals:
      return "signals";
    case Protection::kProcesses:
      return "processes";
    case Protection::kSyscallFilter:
      return "syscall_filter";
    case Protection::kDescriptors:
      return "descriptors";
    case Protection::kTreeKill:
      return "tree_kill";
  }
  std::unreachable();
}

}  // namespace guard::sandbox
