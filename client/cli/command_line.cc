#include "client/cli/command_line.h"

#include <algorithm>
#include <iterator>

#include "common/base/visible.h"
#include "common/os/runtime_dir.h"

namespace guard::client {
namespace {

constexpr std::size_t kShownCandidates = 5;

}  // namespace

std::optional<std::string_view> CommandLine::value_of(std::string_view flag) const {
  const auto found = std::ranges::find(flags, flag, &GivenFlag::name);
  if (found == flags.end()) return std::nullopt;
  return found->value;
}

Result<CommandLine> parse_command_line(std::span<const std::string> arguments,
                                       std::span<const sandbox::FlagRow> table,
                                       std::span<const ShortFlag> short_forms) {
  CommandLine line;
  for (std::size_t index = 0; index < arguments.size();) {
    const std::string& argument = arguments[index];
    if (argument == "--") {
      const auto rest = arguments.subspan(index + 1);
      std::ranges::copy(rest, std::back_inserter(line.operands));
      break;
    }
    if (!argument.starts_with('-') || argument == "-") {
      line.operands.push_back(argument);
      ++index;
      continue;
    }
    GUARD_ASSIGN(const GivenFlag flag, take_flag(arguments, index, {table, short_forms}));
    const bool takes_value = !sandbox::find_flag(table, flag.name)->argument.empty();
    if (takes_value && line.has(flag.name)) return sandbox::given_twice(flag.name);
    line.flags.push_back(flag);
    if (flag.name == kHelpRow.name) break;
  }
  return line;
}

Result<std::string> socket_of(const CommandLine& line) {
  const auto given = line.value_of(kSocketRow.name);
  if (given && given->empty()) {
    return failure(Errc::kInvalid, "--socket '' is empty", "give an absolute path");
  }
  return os::socket_path(std::string(given.value_or("")));
}

Result<std::unique_ptr<GuardClient>> connect_to_running(const CommandLine& line, Context& context) {
  GUARD_ASSIGN(const std::string socket, socket_of(line));
  return context.connect({socket, false});
}

Result<std::string> find_run_id(std::string_view text, const std::vector<run::Info>& list) {
  std::vector<std::string> found;
  for (const run::Info& info : list) {
    if (info.run_id == text) return info.run_id;
    if (!text.empty() && info.run_id.starts_with(text)) found.push_back(info.run_id);
  }
  if (found.empty()) return std::string(text);
  if (found.size() == 1) return found[0];
  std::string candidates;
  for (std::size_t i = 0; i < std::min(found.size(), kShownCandidates); ++i) {
    candidates += (i == 0 ? "" : ", ") + found[i];
  }
  if (found.size() > kShownCandidates) candidates += ", ...";
  return failure(
      Errc::kInvalid,
      "'" + visible(text) + "' begins the ids of " + std::to_string(found.size()) + " runs",
      "one of " + candidates);
}

}  // namespace guard::client
