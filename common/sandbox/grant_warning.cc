#include "common/sandbox/grant_warning.h"

#include "common/base/shell_quote.h"
#include "common/sandbox/path_text.h"

namespace guard::sandbox {
namespace {

constexpr long kMagic9p = 0x01021997;
constexpr long kMagicFuse = 0x65735546;

bool has_component_starting_with(std::string_view path, char first) {
  return path.contains(std::string("/") + first);
}

}  // namespace

std::string unstable_inodes_warning(long file_system_magic) {
  switch (file_system_magic) {
    case kMagic9p:
      return "on 9p, whose inodes may change: access may be refused";
    case kMagicFuse:
      return "on FUSE, whose inodes may change: access may be refused";
    default:
      return {};
  }
}

std::string wide_grant_warning(std::string_view resolved, Access access) {
  if (access == Access::kWrite && is_within("/dev", resolved)) {
    return "opens every device file that this user may open";
  }
  if (is_within("/proc", resolved)) return "shows the command lines of all processes";
  if (is_within("/dev/pts", resolved)) return "opens every terminal of this user, to read too";
  return {};
}

std::string single_file_warning(std::string_view resolved) {
  const std::string folder(parent_of(resolved));
  // The root is no advice: a write grant on it is refused.
  const std::string flag = folder == "/" ? "" : ": --allow-write " + shell_quote(folder);
  return "a single file: programs that write beside it (sed -i, editors, SQLite) need its folder" +
         flag;
}

std::string missing_path_hint(std::string_view path) {
  if (has_component_starting_with(path, '~')) {
    return "the shell did not expand the ~; write \"$HOME/...\"";
  }
  if (path.find_first_of("*?[") != std::string_view::npos) {
    return "patterns are not expanded here; grant the folder itself, everything below it is "
           "included";
  }
  const std::string parent(parent_of(path));
  // The root is no advice: a write grant on it is refused.
  const std::string or_parent = parent == "/" ? "" : ", or grant its parent " + shell_quote(parent);
  return "mkdir -p " + shell_quote(path) + " first" + or_parent +
         ", or put ? before the path to skip it when it is missing";
}

}  // namespace guard::sandbox
