#include "common/sandbox/rights_of_grant.h"

#include "common/sandbox/landlock/rights.h"

namespace guard::sandbox {
namespace {

landlock::NodeType node_type(InodeKind kind) {
  switch (kind) {
    case InodeKind::kDirectory:
      return landlock::NodeType::kDirectory;
    case InodeKind::kRegular:
    case InodeKind::kFifo:
      return landlock::NodeType::kFile;
    case InodeKind::kCharDevice:
    case InodeKind::kBlockDevice:
      return landlock::NodeType::kDevice;
  }
  return landlock::NodeType::kFile;
}

}  // namespace

std::uint64_t rights_of(const ResolvedGrant& grant, std::uint64_t handled_fs) {
  if (grant.skipped) return 0;
  if (grant.list_only) return landlock::kReadDir & handled_fs;
  const landlock::NodeType type = node_type(grant.kind);
  const std::uint64_t rights = grant.grant.access == Access::kWrite ? landlock::write_rights(type)
                                                                    : landlock::read_rights(type);
  return rights & handled_fs;
}

}  // namespace guard::sandbox
