#include "client/cli/kill_command.h"

#include <array>
#include <csignal>

#include "client/cli/command_line.h"
#include "client/cli/signal_name.h"

namespace guard::client {
namespace {

constexpr std::array kTable{
    sandbox::FlagRow{"--signal", "SIGNAL", "TERM (the default), KILL, 15, ... (-s)"},
    kSocketRow,
    kHelpRow,
};
constexpr std::array kShort{ShortFlag{"-s", "--signal"}, kHelpShort};

}  // namespace

std::string KillCommand::help() const {
  return "usage: guardctl kill [flags] ID...\n\n"
         "Sends a signal to the program of each run and to its process group. When the program\n"
         "ends by it, guardd kills whatever else of the run lives; -s KILL therefore ends all of\n"
         "it. An ID may be cut short as long as only one run that lives begins with it.\n\n" +
         flag_help(kTable) +
         "\nExits with 0, with 1 when one of the runs does not live (the others got their "
         "signal),\n"
         "with 5 when no guardd runs; none is started.\n";
}

Result<int> KillCommand::run(std::span<const std::string> arguments, Context& context) const {
  GUARD_ASSIGN(const CommandLine line, parse_command_line(arguments, kTable, kShort));
  if (line.has("--help")) {
    GUARD_TRY(context.out.write(help()));
    return 0;
  }
  int number = SIGTERM;
  if (const auto given = line.value_of("--signal")) {
    GUARD_ASSIGN(number, parse_signal(*given));
  }
  if (line.operands.empty()) {
    return failure(Errc::kInvalid, "kill needs the id of a run", "guardctl ps lists them");
  }
  GUARD_ASSIGN(const auto client, connect_to_running(line, context));
  GUARD_ASSIGN(const RunList list, client->list(false));
  std::vector<std::string> ids;
  for (const std::string& operand : line.operands) {
    GUARD_ASSIGN(std::string id, find_run_id(operand, list.runs));
    ids.push_back(std::move(id));
  }
  int code = 0;
  for (const std::string& id : ids) {
    const auto sent = client->signal(id, number);
    if (sent) continue;
    if (sent.error().code != Errc::kNotFound) return std::unexpected(sent.error());
    context.messages.error(sent.error());
    code = kExitNo;
  }
  return code;
}

}  // namespace guard::client
