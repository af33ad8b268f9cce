#include "client/cli/wait_command.h"

#include <array>

#include "client/cli/command_line.h"
#include "client/render/json_renderer.h"
#include "client/render/text_renderer.h"
#include "common/run/exit_code.h"

namespace guard::client {
namespace {

constexpr std::array kTable{
    sandbox::FlagRow{"--json", "", "print the result as `guardctl run --json` does"},
    sandbox::FlagRow{"--verbose", "", "say also how long it took and what was discarded (-v)"},
    kSocketRow,
    kHelpRow,
};
constexpr std::array kShort{ShortFlag{"-v", "--verbose"}, kHelpShort};

}  // namespace

std::string WaitCommand::help() const {
  return "usage: guardctl wait [flags] ID\n\n"
         "Waits for the end of a run, whoever started it, and exits as `guardctl run` did or\n"
         "would have. A result is kept for 15 minutes after the end. Output is not: it went to\n"
         "whoever started the run. Ending this command does not touch the run. The ID may be cut\n"
         "short as long as only one run begins with it.\n\n" +
         flag_help(kTable) +
         "\nExits with the run's code; with 125 when the run is unknown or no guardd runs (none "
         "is\n"
         "started).\n";
}

int WaitCommand::exit_code_for(const Error& error) const { return run::exit_code_for(error); }

Result<int> WaitCommand::run(std::span<const std::string> arguments, Context& context) const {
  GUARD_ASSIGN(const CommandLine line, parse_command_line(arguments, kTable, kShort));
  if (line.has("--help")) {
    GUARD_TRY(context.out.write(help()));
    return 0;
  }
  if (line.operands.size() != 1) {
    return failure(Errc::kInvalid, "wait takes the id of one run", "guardctl ps -a lists them");
  }
  GUARD_ASSIGN(const auto client, connect_to_running(line, context));
  GUARD_ASSIGN(const RunList list, client->list(true));
  GUARD_ASSIGN(const std::string id, find_run_id(line.operands[0], list.runs));
  GUARD_ASSIGN(run::RunResult result, client->wait(id));
  const int code = run::exit_code_for(result);
  const run::Event finished{id, run::Finished{std::move(result)}};
  if (line.has("--json")) {
    GUARD_TRY(JsonRenderer(context.out).show(finished));
  } else {
    GUARD_TRY(TextRenderer(context.out, context.messages, line.has("--verbose")).show(finished));
  }
  return code;
}

}  // namespace guard::client
