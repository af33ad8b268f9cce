#include "common/os/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "common/base/visible.h"
#include "common/os/unique_fd.h"

namespace guard::os {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

std::unexpected<Error> cannot(const char* call, std::string_view name) {
  const int error = errno;
  return os_failure(std::string(call) + " '" + visible(name) + "'", error);
}

// A folder that its owner may not read: made readable through the very inode, since by then the
// name could mean something else.
void make_enterable(int parent, const char* name) {
  const UniqueFd node(::openat(parent, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
  if (!node) return;
  ::chmod(("/proc/self/fd/" + std::to_string(node.get())).c_str(), 0700);
}

Result<UniqueFd> enter(int parent, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(::openat(parent, name, kFlags));
  if (!fd && errno == EACCES) {
    make_enterable(parent, name);
    fd = UniqueFd(::openat(parent, name, kFlags));
  }
  if (!fd) return cannot("open", name);
  return fd;
}

// Walks with one descriptor: down by name, up by "..", however deep the tree is.
class Removal {
 public:
  Result<> run(int parent, const std::string& name) {
    GUARD_TRY(descend(parent, name));
    const dev_t file_system = levels_.back().device;
    while (!levels_.empty()) {
      GUARD_ASSIGN(std::string below, empty_current());
      if (!below.empty()) {
        GUARD_TRY(descend(current_.get(), below));
        if (levels_.back().device != file_system) {
          return failure(Errc::kDenied, "'" + visible(below) + "' is another file system");
        }
        continue;
      }
      GUARD_TRY(ascend(parent));
    }
    return {};
  }

 private:
  struct Level {
    dev_t device;
    ino_t inode;
    std::string name;
  };

  Result<> descend(int parent, const std::string& name) {
    GUARD_ASSIGN(UniqueFd folder, enter(parent, name.c_str()));
    struct stat status{};
    if (::fstat(folder.get(), &status) != 0) return cannot("fstat", name);
    if ((status.st_mode & 0700) != 0700) ::fchmod(folder.get(), 0700);
    levels_.push_back({status.st_dev, status.st_ino, name});
    current_ = std::move(folder);
    return {};
  }

  // Removes what can be removed without entering it; the name of a folder that has to be entered,
  // or empty when nothing is left.
  Result<std::string> empty_current() {
    const Directory entries(::fdopendir(::openat(current_.get(), ".", O_RDONLY | O_CLOEXEC)));
    if (!entries) return cannot("list", levels_.back().name);
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (::unlinkat(current_.get(), entry->d_name, 0) == 0 || errno == ENOENT) continue;
      if (errno != EISDIR && errno != EPERM) return cannot("unlink", name);
      if (::unlinkat(current_.get(), entry->d_name, AT_REMOVEDIR) == 0) continue;
      if (errno != ENOTEMPTY && errno != EEXIST) return cannot("rmdir", name);
      return std::string(name);
    }
    return std::string();
  }

  Result<> ascend(int top_parent) {
    const Level done = std::move(levels_.back());
    levels_.pop_back();
    int parent = top_parent;
    UniqueFd above;
    if (!levels_.empty()) {
      above = UniqueFd(::openat(current_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      struct stat status{};
      if (!above || ::fstat(above.get(), &status) != 0) return cannot("open '..' of", done.name);
      if (status.st_dev != levels_.back().device || status.st_ino != levels_.back().inode) {
        return failure(Errc::kDenied,
                       "'" + visible(done.name) + "' was moved while it was removed");
      }
      parent = above.get();
    }
    if (::unlinkat(parent, done.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
      return cannot("rmdir", done.name);
    }
    current_ = std::move(above);
    return {};
  }

  UniqueFd current_;
  std::vector<Level> levels_;
};

}  // namespace

Result<> remove_tree(int parent, const std::string& name) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return cannot("unlink", name);
  return Removal().run(parent, name);
}

}  // namespace guard::os
