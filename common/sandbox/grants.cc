#include "common/sandbox/grants.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <iterator>
#include <utility>

#include "common/base/shell_quote.h"
#include "common/base/visible.h"
#include "common/sandbox/around_protected.h"
#include "common/sandbox/grant_warning.h"
#include "common/sandbox/path_text.h"
#include "common/sandbox/presets.h"

namespace guard::sandbox {
namespace {

// "allow_write '/srv/x'", for messages.
std::string named(const PathGrant& grant) {
  return std::string(grant.access == Access::kWrite ? "allow_write" : "allow_read") + " '" +
         visible(grant.path) + "'";
}

// Where a descriptor leads. readlink asks nothing of the file itself.
std::string target_of(int node, const std::string& otherwise) {
  std::array<char, PATH_MAX> target;
  const std::string link = "/proc/self/fd/" + std::to_string(node);
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length <= 0 || static_cast<std::size_t>(length) == target.size()) {
    return canonical_path(otherwise);
  }
  return {target.data(), static_cast<std::size_t>(length)};
}

Result<InodeKind> kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return InodeKind::kDirectory;
    case S_IFREG:
      return InodeKind::kRegular;
    case S_IFCHR:
      return InodeKind::kCharDevice;
    case S_IFBLK:
      return InodeKind::kBlockDevice;
    case S_IFIFO:
      return InodeKind::kFifo;
    case S_IFSOCK:
      return failure(Errc::kInvalid, "is a socket, which no path grant opens",
                     "leave it out; a run makes no connection to socket files");
    default:
      return failure(Errc::kInvalid, "is nothing that can be granted");
  }
}

bool may_skip(const PathGrant& grant, int error) {
  if (grant.origin == Origin::kBase) return true;  // of this machine, not of the request
  return grant.optional && (error == ENOENT || error == ENOTDIR);
}

Result<ResolvedGrant> open_grant(const PathGrant& grant) {
  os::UniqueFd node(::open(grant.path.c_str(), O_PATH | O_CLOEXEC));
  if (node) {
    auto described = describe_node(std::move(node), grant);
    if (!described) return std::unexpected(std::move(described.error()).within(named(grant)));
    return described;
  }
  const int error = errno;
  if (may_skip(grant, error)) {
    ResolvedGrant skipped;
    skipped.grant = grant;
    skipped.resolved = grant.path;
    skipped.skipped = true;
    if (error != ENOENT) skipped.warning = std::strerror(error);
    return skipped;
  }
  if (error == ENOENT) {
    return failure(Errc::kNotFound, named(grant) + " does not exist",
                   missing_path_hint(grant.path));
  }
  return os_failure(named(grant), error);
}

std::string what_holds(const std::vector<std::string>& folders, std::string_view path) {
  const auto found =
      std::ranges::find_if(folders, [&](const auto& folder) { return is_within(path, folder); });
  return found == folders.end() ? std::string() : *found;
}

std::string what_lies_below(const std::vector<std::string>& folders, std::string_view path) {
  const auto found =
      std::ranges::find_if(folders, [&](const auto& folder) { return is_within(folder, path); });
  return found == folders.end() ? std::string() : *found;
}

// One grant of the policy as the rules that it becomes: usually one.
Result<std::vector<ResolvedGrant>> rules_of(const PathGrant& grant,
                                            const std::vector<std::string>& protected_folders) {
  GUARD_ASSIGN(ResolvedGrant resolved, open_grant(grant));
  std::vector<ResolvedGrant> rules;
  if (resolved.skipped || grant.origin == Origin::kPrivate) {
    rules.push_back(std::move(resolved));
    return rules;
  }
  if (const std::string holder = what_holds(protected_folders, resolved.resolved);
      !holder.empty()) {
    if (grant.origin == Origin::kAsked) {
      return failure(Errc::kInvalid,
                     named(grant) + " lies in guardd's own folder '" + visible(holder) + "'",
                     "a run that reaches it could change its own rules");
    }
    resolved.skipped = true;
    resolved.fd.reset();
    resolved.warning = "not granted: it lies in guardd's own folder '" + visible(holder) + "'";
    rules.push_back(std::move(resolved));
    return rules;
  }
  const std::string below = what_lies_below(protected_folders, resolved.resolved);
  if (below.empty()) {
    rules.push_back(std::move(resolved));
    return rules;
  }
  if (grant.access == Access::kWrite) {
    return failure(Errc::kInvalid,
                   named(grant) + " would cover guardd's own folder '" + visible(below) + "'",
                   "grant the folders below it that the program needs, one by one");
  }
  return grant_around(std::move(resolved), protected_folders);
}

}  // namespace

Result<ResolvedGrant> describe_node(os::UniqueFd node, const PathGrant& grant) {
  struct stat status{};
  if (::fstat(node.get(), &status) != 0) return os_failure("fstat");
  GUARD_ASSIGN(const InodeKind kind, kind_of(status.st_mode));
  ResolvedGrant resolved;
  resolved.grant = grant;
  resolved.resolved = target_of(node.get(), grant.path);
  resolved.kind = kind;
  resolved.device = status.st_dev;
  resolved.inode = status.st_ino;
  if (grant.origin == Origin::kAsked) {
    if (kind == InodeKind::kDirectory) {
      resolved.warning = wide_grant_warning(resolved.resolved, grant.access);
    } else if (kind == InodeKind::kRegular && grant.access == Access::kWrite) {
      resolved.warning = single_file_warning(resolved.resolved);
    }
    struct statfs file_system{};
    if (resolved.warning.empty() && ::fstatfs(node.get(), &file_system) == 0) {
      resolved.warning = unstable_inodes_warning(static_cast<long>(file_system.f_type));
    }
  }
  resolved.fd = std::make_shared<const os::UniqueFd>(std::move(node));
  return resolved;
}

Result<ResolvedPolicy> resolve(const Policy& policy, const Protected& protected_folders) {
  GUARD_TRY(validate(policy));
  std::vector<std::string> folders;
  for (const std::string& directory : protected_folders.directories) {
    std::ranges::move(links_and_canonical_path(directory), std::back_inserter(folders));
  }
  std::vector<PathGrant> wanted = policy.paths;
  if (policy.default_grants) std::ranges::move(base_grants(), std::back_inserter(wanted));
  ResolvedPolicy resolved{.policy = policy, .grants = {}};
  for (const PathGrant& grant : wanted) {
    GUARD_ASSIGN(std::vector<ResolvedGrant> rules, rules_of(grant, folders));
    std::ranges::move(rules, std::back_inserter(resolved.grants));
  }
  return resolved;
}

}  // namespace guard::sandbox
