#include "client/oneshot/private_folders.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/base/run_id.h"
#include "common/os/runtime_dir.h"
#include "common/sandbox/path_text.h"

namespace guard::client {
namespace {

constexpr long kDay = 24L * 60 * 60;
constexpr std::size_t kLeftoversAtOnce = 4;

Result<os::ScratchRoot> open_root(const std::string& base) {
  GUARD_ASSIGN(os::ScratchRoot root, os::ScratchRoot::open(base));
  GUARD_TRY(root.ensure_canary());
  return root;
}

bool is_sandboxed() { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }

bool covered_by_write_grant(const sandbox::Policy& policy, const std::string& folder) {
  return std::ranges::any_of(policy.paths, [&](const sandbox::PathGrant& grant) {
    return grant.access == sandbox::Access::kWrite &&
           sandbox::is_within(folder, sandbox::canonical_path(grant.path));
  });
}

std::optional<os::ScratchRoot> nested_root(const sandbox::Policy& policy) {
  for (const char* name : {"TMPDIR", "HOME"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value != '/') continue;
    const std::string base = sandbox::canonical_path(value);
    if (covered_by_write_grant(policy, base)) continue;
    if (auto root = open_root(base)) return std::move(*root);
  }
  return std::nullopt;
}

}  // namespace

Result<PrivateFolders> find_private_folders(const sandbox::Policy& policy) {
  auto root = open_root("");
  if (root) {
    GUARD_ASSIGN(const std::string socket, os::socket_path(""));
    return PrivateFolders{*std::move(root), os::protected_folders(socket)};
  }
  if (!is_sandboxed()) return std::unexpected(std::move(root).error());
  PrivateFolders nested{nested_root(policy), {}};
  if (nested.root) nested.protected_folders.push_back(nested.root->path());
  return nested;
}

Result<RunHome> make_run_home(const os::ScratchRoot& root, sandbox::Policy& policy) {
  root.remove_stale(kDay, kLeftoversAtOnce);
  GUARD_ASSIGN(const os::ScratchRoot::RunFolders made, root.make_run(new_run_id(), ::getpid()));
  RunHome home{policy.real_home ? std::string() : made.home, made.tmp};
  for (const std::string& folder : {home.home, home.tmp}) {
    if (folder.empty()) continue;
    policy.paths.push_back({folder, sandbox::Access::kWrite, false, sandbox::Origin::kPrivate});
  }
  return home;
}

}  // namespace guard::client
