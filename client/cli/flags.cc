#include "client/cli/flags.h"

#include <algorithm>
#include <vector>

#include "common/base/nearest.h"
#include "common/base/visible.h"

namespace guard::client {
namespace {

using sandbox::FlagRow;

std::string_view long_form(std::string_view flag, std::span<const ShortFlag> short_forms) {
  const auto found = std::ranges::find(short_forms, flag, &ShortFlag::from);
  return found == short_forms.end() ? flag : found->to;
}

std::string hint_for_unknown(std::string_view flag, const FlagTables& tables) {
  const std::string_view instead = sandbox::find_elsewhere(tables.elsewhere, flag);
  if (!instead.empty()) return std::string(instead);
  if (flag.starts_with("--deny") || flag.starts_with("--block")) {
    return "this is an allow list: what is not granted is refused";
  }
  std::vector<std::string_view> known;
  for (const FlagRow& row : tables.own) known.push_back(row.name);
  for (const FlagRow& row : tables.others) known.push_back(row.name);
  const std::string_view near = nearest(flag, known);
  return near.empty() ? "--help lists the flags" : "did you mean " + std::string(near) + "?";
}

}  // namespace

Result<GivenFlag> take_flag(std::span<const std::string> arguments, std::size_t& index,
                            const FlagTables& tables) {
  const std::string& argument = arguments[index];
  const sandbox::FlagText flag = sandbox::split_flag(argument);
  if (flag.name.empty()) {
    return failure(Errc::kInvalid, "'" + visible(argument) + "' is no flag",
                   "put -- before the command; --help lists the flags");
  }
  const FlagRow* row = sandbox::find_flag(tables.own, long_form(flag.name, tables.short_forms));
  if (row == nullptr) {
    return failure(Errc::kInvalid, "unknown flag '" + visible(flag.name) + "'",
                   hint_for_unknown(flag.name, tables));
  }
  ++index;
  const std::string name(row->name);
  if (row->argument.empty()) {
    if (flag.value) return failure(Errc::kInvalid, name + " takes no value");
    return GivenFlag{row->name, {}};
  }
  if (flag.value) return GivenFlag{row->name, *flag.value};
  if (index >= arguments.size() || arguments[index] == "--") {
    return failure(Errc::kInvalid, name + " lacks its " + std::string(row->argument));
  }
  return GivenFlag{row->name, arguments[index++]};
}

std::string flag_help(std::span<const FlagRow> table) {
  constexpr std::size_t kColumn = 27;
  std::string text;
  for (const FlagRow& row : table) {
    std::string left = "  " + std::string(row.name);
    if (!row.argument.empty()) left += " " + std::string(row.argument);
    left.resize(std::max(left.size() + 1, kColumn), ' ');
    text += left;
    for (const char c : row.help) {
      text += c;
      if (c == '\n') text.append(kColumn, ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace guard::client
