#include "common/wire/report.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "common/wire/field.h"
#include "common/wire/policy.h"

namespace guard::wire {
namespace {

v1::Status to_proto(sandbox::Status status) {
  switch (status) {
    case sandbox::Status::kEnforced:
      return v1::STATUS_ENFORCED;
    case sandbox::Status::kWeakened:
      return v1::STATUS_WEAKENED;
    case sandbox::Status::kMissing:
      return v1::STATUS_MISSING;
    case sandbox::Status::kNotAsked:
      return v1::STATUS_NOT_ASKED;
  }
  return v1::STATUS_UNSPECIFIED;
}

Result<sandbox::Status> status_from(const std::string& field, v1::Status status) {
  switch (status) {
    case v1::STATUS_ENFORCED:
      return sandbox::Status::kEnforced;
    case v1::STATUS_WEAKENED:
      return sandbox::Status::kWeakened;
    case v1::STATUS_MISSING:
      return sandbox::Status::kMissing;
    case v1::STATUS_NOT_ASKED:
      return sandbox::Status::kNotAsked;
    default:
      return invalid(field, "unknown value " + std::to_string(status));
  }
}

v1::Origin to_proto(sandbox::Origin origin) {
  switch (origin) {
    case sandbox::Origin::kAsked:
      return v1::ORIGIN_ASKED;
    case sandbox::Origin::kCwd:
      return v1::ORIGIN_CWD;
    case sandbox::Origin::kBase:
      return v1::ORIGIN_BASE;
    case sandbox::Origin::kPrivate:
      return v1::ORIGIN_PRIVATE;
  }
  return v1::ORIGIN_UNSPECIFIED;
}

Result<sandbox::Origin> origin_from(const std::string& field, v1::Origin origin) {
  switch (origin) {
    case v1::ORIGIN_ASKED:
      return sandbox::Origin::kAsked;
    case v1::ORIGIN_CWD:
      return sandbox::Origin::kCwd;
    case v1::ORIGIN_BASE:
      return sandbox::Origin::kBase;
    case v1::ORIGIN_PRIVATE:
      return sandbox::Origin::kPrivate;
    default:
      return invalid(field, "unknown value " + std::to_string(origin));
  }
}

Result<sandbox::Access> access_from(const std::string& field, v1::Access access) {
  switch (access) {
    case v1::ACCESS_READ:
      return sandbox::Access::kRead;
    case v1::ACCESS_WRITE:
      return sandbox::Access::kWrite;
    default:
      return invalid(field, "unknown value " + std::to_string(access));
  }
}

std::optional<sandbox::Protection> protection_named(std::string_view name) {
  constexpr auto kLast = static_cast<std::uint8_t>(sandbox::Protection::kTreeKill);
  for (std::uint8_t i = 0; i <= kLast; ++i) {
    const auto protection = static_cast<sandbox::Protection>(i);
    if (sandbox::name_of(protection) == name) return protection;
  }
  return std::nullopt;
}

Result<sandbox::GrantLine> grant_from(const std::string& field, const v1::Grant& message) {
  sandbox::GrantLine line;
  line.path = message.path();
  line.resolved = message.resolved();
  GUARD_ASSIGN(line.access, access_from(field + ".access", message.access()));
  GUARD_ASSIGN(line.origin, origin_from(field + ".origin", message.origin()));
  line.rights = message.rights();
  line.skipped = message.skipped();
  line.note = message.note();
  return line;
}

Result<std::vector<std::uint16_t>> ports_from(
    const char* field, const google::protobuf::RepeatedField<std::uint32_t>& ports) {
  std::vector<std::uint16_t> out;
  for (const std::uint32_t port : ports) {
    if (port > std::numeric_limits<std::uint16_t>::max()) {
      return invalid(field, std::to_string(port) + " is not a port");
    }
    out.push_back(static_cast<std::uint16_t>(port));
  }
  return out;
}

}  // namespace

v1::Report to_proto(const sandbox::Report& report) {
  v1::Report out;
  out.set_level(to_proto(report.level));
  out.set_landlock_abi(report.landlock_abi);
  out.set_landlock_abi_kernel(report.landlock_abi_kernel);
  out.set_kernel(report.kernel);
  for (const auto& line : report.protections) {
    v1::Protection* const message = out.add_protections();
    message->set_name(std::string(sandbox::name_of(line.protection)));
    message->set_status(to_proto(line.status));
    message->set_by(utf8_text(line.by));
    message->set_why(utf8_text(line.why));
  }
  for (const auto& line : report.grants) {
    v1::Grant* const message = out.add_grants();
    message->set_path(line.path);
    message->set_resolved(line.resolved);
    message->set_access(line.access == sandbox::Access::kRead ? v1::ACCESS_READ : v1::ACCESS_WRITE);
    message->set_origin(to_proto(line.origin));
    message->set_rights(utf8_text(line.rights));
    message->set_skipped(line.skipped);
    message->set_note(utf8_text(line.note));
  }
  for (const auto port : report.connect_ports) out.add_connect_ports(port);
  for (const auto port : report.bind_ports) out.add_bind_ports(port);
  for (const auto& clause : report.ungoverned) out.add_ungoverned(utf8_text(clause));
  for (const auto& clause : report.warnings) out.add_warnings(utf8_text(clause));
  out.set_env_passed(report.env_passed);
  out.set_env_withheld(report.env_withheld);
  out.set_private_home(report.private_home);
  return out;
}

Result<sandbox::Report> report_from(const v1::Report& message) {
  sandbox::Report report;
  GUARD_ASSIGN(report.level, level_from("report.level", message.level()));
  report.landlock_abi = message.landlock_abi();
  report.landlock_abi_kernel = message.landlock_abi_kernel();
  report.kernel = message.kernel();
  for (int i = 0; i < message.protections().size(); ++i) {
    const v1::Protection& line = message.protections()[i];
    const auto protection = protection_named(line.name());
    if (!protection) continue;
    GUARD_ASSIGN(const auto status,
                 status_from(element("report.protections", i) + ".status", line.status()));
    report.protections.push_back({*protection, status, line.by(), line.why()});
  }
  for (int i = 0; i < message.grants().size(); ++i) {
    GUARD_ASSIGN(auto line, grant_from(element("report.grants", i), message.grants()[i]));
    report.grants.push_back(std::move(line));
  }
  GUARD_ASSIGN(report.connect_ports, ports_from("report.connect_ports", message.connect_ports()));
  GUARD_ASSIGN(report.bind_ports, ports_from("report.bind_ports", message.bind_ports()));
  report.ungoverned.assign(message.ungoverned().begin(), message.ungoverned().end());
  report.warnings.assign(message.warnings().begin(), message.warnings().end());
  report.env_passed = message.env_passed();
  report.env_withheld = message.env_withheld();
  report.private_home = message.private_home();
  return report;
}

}  // namespace guard::wire
