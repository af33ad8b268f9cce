#include "client/render/findings_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/base/visible.h"

namespace guard::client {
namespace {

using doctor::Finding;
using doctor::Level;

std::string_view symbol(Level level) {
  switch (level) {
    case Level::kOk:
      return "✓";
    case Level::kNote:
      return "•";
    case Level::kWarning:
      return "!";
    case Level::kProblem:
      return "✗";
  }
  std::unreachable();
}

std::string_view color_of(Level level) {
  switch (level) {
    case Level::kOk:
      return "32";
    case Level::kNote:
      return "36";
    case Level::kWarning:
      return "33";
    case Level::kProblem:
      return "31";
  }
  std::unreachable();
}

std::string mark(Level level, TextStyle style) {
  // Words are as wide as the longest of them.
  std::string text =
      style.symbols ? std::string(symbol(level)) : fmt::format("{:<7}", doctor::name_of(level));
  if (!style.color) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", color_of(level), text);
}

std::string total(const doctor::Findings& findings) {
  const auto count = [&](Level level) {
    return std::ranges::count(findings, level, &Finding::level);
  };
  const auto problems = count(Level::kProblem), warnings = count(Level::kWarning);
  return fmt::format("{} problem{}, {} warning{}\n", problems, problems == 1 ? "" : "s", warnings,
                     warnings == 1 ? "" : "s");
}

}  // namespace

std::string findings_text(const doctor::Findings& findings, TextStyle style) {
  const std::string indent(style.symbols ? 2 : 8, ' ');
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{} {}\n", mark(finding.level, style), visible(finding.text));
    if (!finding.fix.empty()) text += fmt::format("{}fix: {}\n", indent, visible(finding.fix));
  }
  return text + total(findings);
}

}  // namespace guard::client
