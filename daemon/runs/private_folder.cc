#include "daemon/runs/private_folder.h"

#include <unistd.h>

#include <spdlog/spdlog.h>

#include "common/base/run_id.h"

namespace guard::daemon {

Result<PrivateFolder> PrivateFolder::make(const os::ScratchRoot& root) {
  GUARD_ASSIGN(auto folders, root.make_run(new_run_id(), ::getpid()));
  return PrivateFolder(root, std::move(folders));
}

PrivateFolder::~PrivateFolder() { (void)remove(); }

std::vector<std::string> PrivateFolder::remove() {
  if (root_ == nullptr) return {};
  auto discarded = std::exchange(root_, nullptr)->remove_run(folders_.name);
  if (discarded) return *std::move(discarded);
  spdlog::warn("{} stays behind: {}", folders_.name, discarded.error().message());
  return {};
}

}  // namespace guard::daemon
