#include "common/wire/policy.h"

#include <charconv>
#include <optional>
#include <string>

#include "common/base/utf8.h"
#include "common/base/visible.h"
#include "common/wire/field.h"
#include "common/wire/limits.h"

namespace guard::wire {
namespace {

using PathGrants = google::protobuf::RepeatedPtrField<v1::PathGrant>;
using Texts = google::protobuf::RepeatedPtrField<std::string>;

Result<sandbox::PathGrant> grant_from(const std::string& field, const v1::PathGrant& message,
                                      sandbox::Access access) {
  GUARD_TRY(refuse_unknown_fields(field, message));
  if (!message.path().empty() && !message.path_text().empty()) {
    return invalid(field, "gives path and path_text; exactly one is wanted");
  }
  if (message.has_expected()) {
    return unimplemented(field + ".expected", "this guardd does not compare inodes");
  }
  const bool is_text = !message.path_text().empty();
  const std::string& path = is_text ? message.path_text() : message.path();
  GUARD_TRY(check_path(field + (is_text ? ".path_text" : ".path"), path));
  return sandbox::PathGrant{.path = path, .access = access, .optional = message.optional()};
}

Result<> append_grants(std::vector<sandbox::PathGrant>& out, const std::string& field,
                       const PathGrants& messages, sandbox::Access access) {
  for (int i = 0; i < messages.size(); ++i) {
    GUARD_ASSIGN(sandbox::PathGrant grant, grant_from(element(field, i), messages[i], access));
    out.push_back(std::move(grant));
  }
  return {};
}

// A decimal number without sign, blanks or leading zeros.
std::optional<std::uint32_t> number_from(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

Result<std::vector<std::uint16_t>> ports_from(const std::string& field, const Texts& texts,
                                              std::uint32_t lowest) {
  if (static_cast<std::size_t>(texts.size()) > kMaxPorts) {
    return invalid(field, "more than " + std::to_string(kMaxPorts) + " ports");
  }
  std::vector<std::uint16_t> ports;
  for (int i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    const auto port = number_from(text);
    if (port && *port >= lowest && *port <= 65'535) {
      ports.push_back(static_cast<std::uint16_t>(*port));
    } else if (text.find_first_of(":-*") != std::string::npos && text.front() != '-') {
      return unimplemented(element(field, i), "'" + visible(text) + "' is a host or a range",
                           "give one port number, which stands for any host");
    } else {
      return invalid(element(field, i), "'" + visible(text) + "' is not a port (" +
                                            std::to_string(lowest) + " to 65535)");
    }
  }
  return ports;
}

Result<> refuse_unbuilt(const std::string& field, const v1::Policy& message) {
  const auto absent = [&](bool given, const char* name) -> Result<> {
    if (!given) return {};
    return unimplemented(field + "." + name, "this guardd cannot enforce it",
                         "leave it out; everything that is not granted is refused already");
  };
  GUARD_TRY(absent(!message.allow_udp().empty(), "allow_udp"));
  GUARD_TRY(absent(!message.allow_unix().empty(), "allow_unix"));
  GUARD_TRY(absent(message.allow_loopback(), "allow_loopback"));
  GUARD_TRY(absent(message.allow_proc(), "allow_proc"));
  GUARD_TRY(absent(!message.deny().empty(), "deny"));
  GUARD_TRY(absent(!message.protect().empty(), "protect"));
  return {};
}

std::optional<std::uint64_t> number_or_none(std::uint64_t value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

Result<std::chrono::milliseconds> positive_duration_from(
    const std::string& field, const google::protobuf::Duration& message) {
  GUARD_ASSIGN(const std::chrono::milliseconds duration, duration_from(field, message));
  if (duration.count() == 0) return invalid(field, "is zero", "leave it unset for no limit");
  return duration;
}

Result<sandbox::Limits> limits_from(const std::string& field, const v1::Limits& message) {
  GUARD_TRY(refuse_unknown_fields(field, message));
  sandbox::Limits limits;
  if (message.has_wall()) {
    GUARD_ASSIGN(limits.wall, positive_duration_from(field + ".wall", message.wall()));
  }
  if (message.has_cpu()) {
    if (message.cpu().nanos() != 0)
      return invalid(field + ".cpu", "is not a whole number of seconds");
    GUARD_ASSIGN(const auto cpu, positive_duration_from(field + ".cpu", message.cpu()));
    limits.cpu = std::chrono::duration_cast<std::chrono::seconds>(cpu);
  }
  limits.memory_bytes = number_or_none(message.memory_bytes());
  limits.processes = number_or_none(message.processes());
  limits.file_size_bytes = number_or_none(message.file_size_bytes());
  limits.open_files = number_or_none(message.open_files());
  limits.output_bytes = number_or_none(message.output_bytes());
  if (limits.open_files && *limits.open_files < 3) {
    return invalid(field + ".open_files",
                   std::to_string(*limits.open_files) + " leaves no room for standard streams");
  }
  return limits;
}

v1::PathGrant to_proto(const sandbox::PathGrant& grant) {
  v1::PathGrant out;
  if (is_utf8(grant.path)) {
    out.set_path_text(grant.path);
  } else {
    out.set_path(grant.path);
  }
  out.set_optional(grant.optional);
  return out;
}

v1::Limits to_proto(const sandbox::Limits& limits) {
  v1::Limits out;
  if (limits.wall) *out.mutable_wall() = to_duration(*limits.wall);
  if (limits.cpu) *out.mutable_cpu() = to_duration(*limits.cpu);
  out.set_memory_bytes(limits.memory_bytes.value_or(0));
  out.set_processes(limits.processes.value_or(0));
  out.set_file_size_bytes(limits.file_size_bytes.value_or(0));
  out.set_open_files(limits.open_files.value_or(0));
  out.set_output_bytes(limits.output_bytes.value_or(0));
  return out;
}

}  // namespace

Result<sandbox::Level> level_from(std::string_view field, v1::Level level) {
  switch (level) {
    case v1::LEVEL_UNSPECIFIED:
    case v1::LEVEL_DEFAULT:
      return sandbox::Level::kDefault;
    case v1::LEVEL_STRICT:
      return sandbox::Level::kStrict;
    case v1::LEVEL_BEST_EFFORT:
      return sandbox::Level::kBestEffort;
    case v1::LEVEL_UNSAFE_NO_GUARD:
      return sandbox::Level::kUnsafeNoGuard;
    default:
      return invalid(field, "unknown value " + std::to_string(level));
  }
}

v1::Level to_proto(sandbox::Level level) {
  switch (level) {
    case sandbox::Level::kDefault:
      return v1::LEVEL_DEFAULT;
    case sandbox::Level::kStrict:
      return v1::LEVEL_STRICT;
    case sandbox::Level::kBestEffort:
      return v1::LEVEL_BEST_EFFORT;
    case sandbox::Level::kUnsafeNoGuard:
      return v1::LEVEL_UNSAFE_NO_GUARD;
  }
  return v1::LEVEL_UNSPECIFIED;
}

Result<sandbox::Policy> policy_from(const v1::Policy& message, std::string_view field) {
  const std::string name(field);
  GUARD_TRY(refuse_unknown_fields(name, message));
  GUARD_TRY(refuse_unbuilt(name, message));
  const auto paths = static_cast<std::size_t>(message.allow_read().size()) +
                     static_cast<std::size_t>(message.allow_write().size());
  if (paths > kMaxPaths) {
    return invalid(
        name, "grants " + std::to_string(paths) + " paths; at most " + std::to_string(kMaxPaths));
  }
  sandbox::Policy policy;
  GUARD_TRY(append_grants(policy.paths, name + ".allow_read", message.allow_read(),
                          sandbox::Access::kRead));
  GUARD_TRY(append_grants(policy.paths, name + ".allow_write", message.allow_write(),
                          sandbox::Access::kWrite));
  GUARD_ASSIGN(policy.allow_connect,
               ports_from(name + ".allow_connect", message.allow_connect(), 1));
  GUARD_ASSIGN(policy.allow_bind, ports_from(name + ".allow_bind", message.allow_bind(), 0));
  policy.allow_ptrace = message.allow_ptrace();
  GUARD_ASSIGN(policy.limits, limits_from(name + ".limits", message.limits()));
  GUARD_ASSIGN(policy.level, level_from(name + ".level", message.level()));
  policy.default_grants = !message.no_default_grants();
  policy.real_home = message.real_home();
  if (auto verdict = sandbox::validate(policy); !verdict) {
    return std::unexpected(std::move(verdict).error().within(name));
  }
  return policy;
}

v1::Policy to_proto(const sandbox::Policy& policy) {
  v1::Policy out;
  for (const auto& grant : policy.paths) {
    if (grant.origin != sandbox::Origin::kAsked) continue;
    auto* list = grant.access == sandbox::Access::kRead ? out.mutable_allow_read()
                                                        : out.mutable_allow_write();
    *list->Add() = to_proto(grant);
  }
  for (const auto port : policy.allow_connect) out.add_allow_connect(std::to_string(port));
  for (const auto port : policy.allow_bind) out.add_allow_bind(std::to_string(port));
  out.set_allow_ptrace(policy.allow_ptrace);
  if (policy.limits != sandbox::Limits{}) *out.mutable_limits() = to_proto(policy.limits);
  out.set_level(to_proto(policy.level));
  out.set_no_default_grants(!policy.default_grants);
  out.set_real_home(policy.real_home);
  return out;
}

}  // namespace guard::wire
