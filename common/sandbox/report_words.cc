#include "common/sandbox/report_words.h"

#include <utility>

namespace guard::sandbox {
namespace {

std::string ports_words(std::string_view verb, const std::vector<std::uint16_t>& ports) {
  std::string text(verb);
  if (ports.empty()) return text + " blocked";
  const char* separator = " ";
  for (const std::uint16_t port : ports) {
    text += separator + (port == 0 ? "any free port" : std::to_string(port));
    separator = ", ";
  }
  return text;
}

}  // namespace

std::string_view name_of(Level level) {
  switch (level) {
    case Level::kDefault:
      return "default";
    case Level::kStrict:
      return "strict";
    case Level::kBestEffort:
      return "best_effort";
    case Level::kUnsafeNoGuard:
      return "unsafe_no_guard";
  }
  std::unreachable();
}

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kEnforced:
      return "enforced";
    case Status::kWeakened:
      return "weakened";
    case Status::kMissing:
      return "missing";
    case Status::kNotAsked:
      return "not_asked";
  }
  std::unreachable();
}

std::string_view name_of(Access access) { return access == Access::kWrite ? "write" : "read"; }

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::kAsked:
      return "asked";
    case Origin::kCwd:
      return "cwd";
    case Origin::kBase:
      return "base";
    case Origin::kPrivate:
      return "private";
  }
  std::unreachable();
}

std::string network_words(const Report& report) {
  std::string connect = ports_words("connect", report.connect_ports);
  if (!report.connect_ports.empty()) connect += " (any host)";
  return connect + ", " + ports_words("bind", report.bind_ports);
}

std::string weakened_words(const Report& report) {
  std::string text;
  for (const ProtectionLine& line : report.protections) {
    if (line.status != Status::kWeakened && line.status != Status::kMissing) continue;
    if (!text.empty()) text += ", ";
    text += std::string(name_of(line.protection)) + " (" + line.why + ")";
  }
  return text;
}

}  // namespace guard::sandbox
