// A policy's paths met with the file system: opened once, O_PATH, symlinks followed.
//
// Type, rights and report all come from that one descriptor, so a path that is swapped afterwards
// changes nothing: the rule pins the inode (landlock(7)). O_PATH never blocks on a FIFO and needs
// no permission on the file itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/sandbox/policy.h"

namespace guard::sandbox {

enum class InodeKind : std::uint8_t { kDirectory, kRegular, kCharDevice, kBlockDevice, kFifo };

struct ResolvedGrant {
  PathGrant grant;       // as written (made absolute by the client)
  std::string resolved;  // where it led, symlinks followed; equals grant.path when none was
  InodeKind kind = InodeKind::kDirectory;
  dev_t device = 0;
  ino_t inode = 0;
  bool skipped = false;    // optional and missing: no rule is made
  bool list_only = false;  // READ_DIR alone: a folder on the way around a protected one
  std::string warning;  // "" or a clause: a file system without stable inodes, a wide device grant
  std::shared_ptr<const os::UniqueFd> fd;  // null when skipped, and in tests of compile()
};

// Folders that no run may reach: guardd's runtime, config and state. Absolute, need not exist.
struct Protected {
  std::vector<std::string> directories;
};

struct ResolvedPolicy {
  Policy policy;
  std::vector<ResolvedGrant> grants;
};

// Opens every grant of `policy` (base included when default_grants). Errors, all naming the path:
//  kNotFound   missing and not optional; hint: mkdir -p, or grant the parent, or `?` before it
//  kInvalid    a socket (a grant does not open it); a write grant over a protected folder;
//  validate()
// A read grant over a protected folder is expanded around it: its siblings are granted, the folders
// on the way get list_only.
Result<ResolvedPolicy> resolve(const Policy& policy, const Protected& protected_folders);

}  // namespace guard::sandbox
