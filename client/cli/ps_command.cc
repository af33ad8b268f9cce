#include "client/cli/ps_command.h"

#include <array>

#include "client/cli/command_line.h"
#include "client/render/run_list.h"

namespace guard::client {
namespace {

constexpr std::array kTable{
    sandbox::FlagRow{"--all", "", "also runs that have ended and whose results are kept (-a)"},
    sandbox::FlagRow{"--json", "", "print each run as a line of JSON"},
    kSocketRow,
    kHelpRow,
};
constexpr std::array kShort{ShortFlag{"-a", "--all"}, kHelpShort};

}  // namespace

std::string PsCommand::help() const {
  return "usage: guardctl ps [flags]\n\n"
         "Lists the runs that live, the newest first, and with -a those that have ended: guardd\n"
         "keeps a result for 15 minutes, the last 1,000 of them. No guardd is started.\n\n" +
         flag_help(kTable) +
         "\nExits with 0, or 5 when no guardd runs. --json is described by\n"
         "docs/schema/run_info.schema.json.\n";
}

Result<int> PsCommand::run(std::span<const std::string> arguments, Context& context) const {
  GUARD_ASSIGN(const CommandLine line, parse_command_line(arguments, kTable, kShort));
  if (line.has("--help")) {
    GUARD_TRY(context.out.write(help()));
    return 0;
  }
  if (!line.operands.empty()) return failure(Errc::kInvalid, "ps takes no operands");
  GUARD_ASSIGN(const auto client, connect_to_running(line, context));
  GUARD_ASSIGN(const RunList list, client->list(line.has("--all")));
  std::string text;
  if (line.has("--json")) {
    for (const run::Info& info : list.runs) text += info_json(info) + "\n";
  } else {
    text = run_table(list.runs, std::chrono::system_clock::now());
  }
  GUARD_TRY(context.out.write(text));
  if (list.truncated) context.messages.note("older runs are left out");
  return 0;
}

}  // namespace guard::client
