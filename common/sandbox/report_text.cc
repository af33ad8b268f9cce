#include "common/sandbox/report_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/shell_quote.h"
#include "common/base/visible.h"
#include "common/sandbox/report_words.h"

namespace guard::sandbox {
namespace {

class Lines {
 public:
  explicit Lines(const std::string& prefix) : prefix_(prefix) {}

  void labelled(std::string_view label, std::string_view text) {
    text_ += fmt::format("{}{:<12} {}\n", prefix_, fmt::format("{}:", label), text);
  }
  void heading(std::string_view label) { text_ += fmt::format("{}{}:\n", prefix_, label); }
  void below(std::string_view text) { text_ += fmt::format("{}  {}\n", prefix_, text); }

  std::string text() && { return std::move(text_); }

 private:
  const std::string& prefix_;
  std::string text_;
};

std::string joined(const Report& report, Access access) {
  std::string text;
  for (const GrantLine& grant : report.grants) {
    if (grant.access != access) continue;
    if (grant.origin != Origin::kAsked && grant.origin != Origin::kCwd) continue;
    if (!text.empty()) text += ", ";
    text += grant_words(grant);
  }
  return text;
}

std::string base_words(const Report& report) {
  const bool has_base = std::ranges::any_of(
      report.grants, [](const GrantLine& grant) { return grant.origin == Origin::kBase; });
  const bool has_private = std::ranges::any_of(
      report.grants, [](const GrantLine& grant) { return grant.origin == Origin::kPrivate; });
  std::string text = has_base
                         ? "read and execute system files (-v lists them), write /dev/null, ..."
                         : "none (--no-default-grants)";
  if (!report.private_home.empty()) return text + "; private HOME and TMPDIR";
  return has_private ? text + "; private TMPDIR" : text;
}

// Weakenings and warnings share a line: a summary has six.
std::string caution_words(const Report& report) {
  std::string text = weakened_words(report);
  for (const std::string& warning : report.warnings) {
    if (!text.empty()) text += "; ";
    text += visible(warning);
  }
  return text;
}

void show_grants(const Report& report, Lines& lines) {
  for (const Access access : {Access::kRead, Access::kWrite}) {
    const std::string grants = joined(report, access);
    if (!grants.empty()) lines.labelled(fmt::format("allow-{}", name_of(access)), grants);
  }
}

void show_details(const Report& report, Lines& lines) {
  lines.heading("grants");
  for (const GrantLine& grant : report.grants) {
    lines.below(fmt::format("{}: {} [{}]", grant_words(grant),
                            grant.skipped ? "nothing" : grant.rights, name_of(grant.origin)));
  }
  lines.heading("protections");
  for (const ProtectionLine& line : report.protections) {
    lines.below(fmt::format("{}: {}{}{}", name_of(line.protection), name_of(line.status),
                            line.by.empty() ? "" : " by " + line.by,
                            line.why.empty() ? "" : " (" + line.why + ")"));
  }
  lines.heading("not governed");
  for (const std::string& clause : report.ungoverned) lines.below(clause);
}

}  // namespace

std::string grant_words(const GrantLine& grant) {
  std::string text = shell_quote(grant.path);
  if (grant.skipped) {
    return text + (grant.note.empty() ? " (missing, skipped)" : " (" + visible(grant.note) + ")");
  }
  if (grant.resolved != grant.path) text += " -> " + shell_quote(grant.resolved);
  if (grant.origin == Origin::kCwd) text += " (working directory)";
  if (!grant.note.empty()) text += " (" + visible(grant.note) + ")";
  return text;
}

std::string report_text(const Report& report, const TextStyle& style) {
  Lines lines(style.prefix);
  if (!report.confined()) {
    lines.labelled("guard", "DISABLED by --unsafe-no-guard: nothing is confined");
    lines.labelled("env",
                   fmt::format("{} passed, {} withheld", report.env_passed, report.env_withheld));
    return std::move(lines).text();
  }
  show_grants(report, lines);
  lines.labelled("network", network_words(report));
  lines.labelled("base", base_words(report));
  lines.labelled("env",
                 fmt::format("{} passed, {} withheld", report.env_passed, report.env_withheld));
  const std::string caution = caution_words(report);
  const bool weakened = !weakened_words(report).empty();
  if (!caution.empty()) lines.labelled(weakened ? "weakened" : "note", caution);
  if (style.verbose) {
    lines.labelled("kernel",
                   fmt::format("Linux {}, Landlock ABI {}, level {}", visible(report.kernel),
                               report.landlock_abi, name_of(report.level)));
    show_details(report, lines);
  }
  return std::move(lines).text();
}

}  // namespace guard::sandbox
