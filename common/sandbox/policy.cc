#include "common/sandbox/policy.h"

#include <string_view>

#include "common/base/visible.h"

namespace guard::sandbox {
namespace {

std::string_view field_of(const PathGrant& grant) {
  return grant.access == Access::kWrite ? "allow_write" : "allow_read";
}

Result<> validate(const PathGrant& grant) {
  const std::string field(field_of(grant));
  if (grant.path.empty()) return failure(Errc::kInvalid, field + ": the path is empty");
  const std::string shown = field + " '" + visible(grant.path) + "'";
  if (grant.path.contains('\0')) return failure(Errc::kInvalid, shown + " holds a NUL byte");
  if (grant.path.front() != '/') return failure(Errc::kInvalid, shown + " is not absolute");
  return {};
}

template <class T>
Result<> validate_limit(std::string_view field, const std::optional<T>& limit, T least) {
  if (!limit || *limit >= least) return {};
  return failure(Errc::kInvalid, "limits." + std::string(field) + " is too small",
                 "leave it out for no limit");
}

Result<> validate(const Limits& limits) {
  GUARD_TRY(validate_limit("wall", limits.wall, std::chrono::milliseconds(1)));
  GUARD_TRY(validate_limit("cpu", limits.cpu, std::chrono::seconds(1)));
  const std::uint64_t one = 1;
  GUARD_TRY(validate_limit("memory", limits.memory_bytes, one));
  GUARD_TRY(validate_limit("processes", limits.processes, one));
  GUARD_TRY(validate_limit("file_size", limits.file_size_bytes, one));
  GUARD_TRY(validate_limit("open_files", limits.open_files, std::uint64_t{3}));
  GUARD_TRY(validate_limit("output", limits.output_bytes, one));
  return {};
}

}  // namespace

Result<> validate(const Policy& policy) {
  for (const PathGrant& grant : policy.paths) GUARD_TRY(validate(grant));
  for (const std::uint16_t port : policy.allow_connect) {
    if (port == 0)
      return failure(Errc::kInvalid, "allow_connect: there is no port 0 to connect to");
  }
  return validate(policy.limits);
}

}  // namespace guard::sandbox
