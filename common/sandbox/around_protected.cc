#include "common/sandbox/around_protected.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/visible.h"
#include "common/sandbox/path_text.h"

namespace guard::sandbox {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// A second, readable descriptor: O_PATH does not list. Null when the user may not list it.
Directory open_directory(int node) {
  const int fd = ::openat(node, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  Directory directory(::fdopendir(fd));
  if (!directory) ::close(fd);
  return directory;
}

class Expansion {
 public:
  explicit Expansion(const std::vector<std::string>& protected_folders)
      : protected_(protected_folders) {}

  Result<> descend(ResolvedGrant folder) {
    const std::string path = folder.resolved;
    const std::shared_ptr<const os::UniqueFd> node = folder.fd;
    const PathGrant grant = folder.grant;
    folder.list_only = true;
    grants_.push_back(std::move(folder));
    const Directory directory = open_directory(node->get());
    if (!directory) return {};
    while (const dirent* entry = ::readdir(directory.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      GUARD_TRY(
          take(node->get(), entry->d_name, (path == "/" ? "" : path) + "/" + entry->d_name, grant));
    }
    return {};
  }

  std::vector<ResolvedGrant> result() && { return std::move(grants_); }

 private:
  bool is_protected(const std::string& path) const {
    return std::ranges::find(protected_, path) != protected_.end();
  }
  bool leads_to_protected(const std::string& path) const {
    return std::ranges::any_of(protected_, [&](const auto& p) { return is_within(p, path); });
  }

  Result<> take(int folder, const char* name, const std::string& path, const PathGrant& grant) {
    if (is_protected(path)) return {};
    os::UniqueFd node(::openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!node) {
      if (errno != EMFILE && errno != ENFILE) return {};  // it vanished: nothing to grant
      return os_failure("allow_read '" + visible(grant.path) +
                        "': too many files around guardd's own");
    }
    auto described = describe_node(std::move(node), grant);
    if (!described) return {};  // a symlink is judged by its target, a socket is no file to open
    described->resolved = path;
    if (leads_to_protected(path)) return descend(*std::move(described));
    grants_.push_back(*std::move(described));
    return {};
  }

  const std::vector<std::string>& protected_;
  std::vector<ResolvedGrant> grants_;
};

}  // namespace

Result<std::vector<ResolvedGrant>> grant_around(ResolvedGrant top,
                                                const std::vector<std::string>& protected_folders) {
  std::string around;
  for (const std::string& folder : protected_folders) {
    if (!is_within(folder, top.resolved)) continue;
    around += (around.empty() ? "" : ", ") + visible(folder);
  }
  top.warning += (top.warning.empty() ? "" : "; ") + ("but for what guardd keeps in " + around);
  Expansion expansion(protected_folders);
  GUARD_TRY(expansion.descend(std::move(top)));
  return std::move(expansion).result();
}

}  // namespace guard::sandbox
