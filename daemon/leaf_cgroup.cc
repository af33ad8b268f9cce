#include "daemon/leaf_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "common/os/sys.h"

namespace guard::daemon {
namespace {

constexpr std::size_t kLongestList = 64 << 10;
constexpr const char* kLeaf = "guardd";

// "0::/user.slice/…/guardd.service" is the line of version 2; "" when there is none.
std::string own_group() {
  const auto list = os::read_file("/proc/self/cgroup", kLongestList);
  if (!list) return "";
  const std::string_view lines = *list;
  const std::size_t start = lines.starts_with("0::/") ? 0 : lines.find("\n0::/") + 1;
  if (start == 0 && !lines.starts_with("0::/")) return "";
  const std::string_view path = lines.substr(start + 3);
  return "/sys/fs/cgroup" + std::string(path.substr(0, path.find('\n')));
}

bool is_delegated(const std::string& group) {
  char value = 0;
  return ::getxattr(group.c_str(), "user.delegate", &value, 1) == 1 && value == '1';
}

}  // namespace

bool enter_leaf_cgroup() {
  const std::string group = own_group();
  if (group.empty() || !is_delegated(group)) return false;
  const std::string leaf = group + "/" + kLeaf;
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) return false;
  const auto processes = os::open(leaf + "/cgroup.procs", O_WRONLY);
  return processes && os::write_all(processes->get(), "0\n");  // 0: the writer
}

}  // namespace guard::daemon
