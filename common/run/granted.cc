#include "common/run/granted.h"

#include <algorithm>
#include <climits>

#include <fmt/format.h>

#include "common/base/shell_quote.h"
#include "common/sandbox/path_text.h"

namespace guard::run {
namespace {

constexpr std::size_t kMostArguments = 100;  // looked at: a glob may make thousands
constexpr std::size_t kMostClauses = 3;

bool may_be_a_path(const std::string& argument) {
  return !argument.empty() && argument.front() != '-' && argument.size() < PATH_MAX;
}

std::string clause_for(const std::string& path, const sandbox::Report& report) {
  const std::vector<std::string> ways = sandbox::links_and_canonical_path(path);
  const std::string& target = ways.back();
  if (is_granted(target, report)) return {};
  const auto link = std::find_if(ways.begin(), ways.end() - 1,
                                 [&](const std::string& each) { return is_granted(each, report); });
  if (link == ways.end() - 1) return {};
  const std::string quoted = shell_quote(target);
  return fmt::format("the link {} leads to {}, which is not granted: --allow-read {}",
                     shell_quote(*link), quoted, quoted);
}

}  // namespace

bool is_granted(std::string_view resolved, const sandbox::Report& report) {
  return std::ranges::any_of(report.grants, [&](const sandbox::GrantLine& grant) {
    return !grant.skipped && sandbox::is_within(resolved, grant.resolved);
  });
}

std::vector<std::string> links_that_lead_out(std::span<const std::string> argv,
                                             const std::string& cwd,
                                             const sandbox::Report& report) {
  std::vector<std::string> clauses;
  if (!report.confined() || argv.empty()) return clauses;
  for (const std::string& argument :
       argv.subspan(1).first(std::min(argv.size() - 1, kMostArguments))) {
    if (clauses.size() == kMostClauses) break;
    if (!may_be_a_path(argument)) continue;
    std::string clause = clause_for(sandbox::absolute_path(argument, cwd), report);
    if (clause.empty() || std::ranges::find(clauses, clause) != clauses.end()) continue;
    clauses.push_back(std::move(clause));
  }
  return clauses;
}

}  // namespace guard::run
