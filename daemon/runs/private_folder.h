// The private HOME and TMPDIR of one run: made before it, removed after it, by whoever holds this.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/os/scratch_dir.h"

namespace guard::daemon {

// Both work on the file system: not on the loop. The destructor removes what remove() has not.
class PrivateFolder {
 public:
  PrivateFolder() = default;  // none
  // `root` outlives it. Its name is its own, not the run's id: another guardd of this user, or one
  // that was killed, may have had a run of that id.
  static Result<PrivateFolder> make(const os::ScratchRoot& root);

  PrivateFolder(PrivateFolder&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), folders_(std::move(other.folders_)) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(root_, other.root_);
    std::swap(folders_, other.folders_);
    return *this;
  }
  ~PrivateFolder();

  explicit operator bool() const { return root_ != nullptr; }
  const std::string& home() const { return folders_.home; }
  const std::string& tmp() const { return folders_.tmp; }

  // What was in them, at most 20 names ("home/.npm"). Empty when they could not be removed.
  std::vector<std::string> remove();

 private:
  PrivateFolder(const os::ScratchRoot& root, os::ScratchRoot::RunFolders folders)
      : root_(&root), folders_(std::move(folders)) {}
  const os::ScratchRoot* root_ = nullptr;
  os::ScratchRoot::RunFolders folders_;
};

}  // namespace guard::daemon
