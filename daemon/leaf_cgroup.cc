#include "daemon/leaf_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "common/base/visible.h"
#include "common/os/sys.h"

namespace guard::daemon {
namespace {

constexpr std::size_t kLongestList = 64 << 10;

// The line "0::/user.slice/…/guardd.service" is that of version 2.
Result<std::string> own_group() {
  GUARD_ASSIGN(const std::string list, os::read_file("/proc/self/cgroup", kLongestList));
  const std::string_view lines = list;
  constexpr std::string_view kVersion2 = "0::";
  std::size_t start = 0;
  while (!lines.substr(start).starts_with(kVersion2)) {
    const std::size_t end = lines.find('\n', start);
    if (end == std::string_view::npos) return failure(Errc::kUnsupported, "no cgroup v2 here");
    start = end + 1;
  }
  const std::string_view path = lines.substr(start + kVersion2.size());
  return "/sys/fs/cgroup" + std::string(path.substr(0, path.find('\n')));
}

}  // namespace

Result<os::UniqueFd> enter_leaf_cgroup() {
  GUARD_ASSIGN(const std::string group, own_group());
  const std::string leaf = group + "/guardd";
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) {
    return os_failure("mkdir '" + visible(leaf) + "'");
  }
  GUARD_ASSIGN(const os::UniqueFd processes, os::open(leaf + "/cgroup.procs", O_WRONLY));
  GUARD_TRY(os::write_all(processes.get(), "0\n"));  // 0: the writer
  return os::open(group, O_RDONLY | O_DIRECTORY);
}

}  // namespace guard::daemon
