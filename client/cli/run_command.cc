#include "client/cli/run_command.h"

#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "client/cli/flags.h"
#include "client/cli/run_options.h"
#include "client/cli/run_relay.h"
#include "client/render/json_renderer.h"
#include "client/render/text_renderer.h"
#include "common/os/runtime_dir.h"
#include "common/run/exit_code.h"
#include "common/run/granted.h"

namespace guard::client {
namespace {

constexpr std::string_view kTop = R"(usage: guardctl run [flags] -- command [argument...]

Runs a command confined by guardd, as if it had been called here: its input, its output, its exit
code. When it has ended, nothing of it is left. A guardd is started when none runs.

  guardctl run --allow-write ./workspace -- python3 agent.py
  guardctl run --timeout 30s --allow-read ./data --allow-connect 8080 -- curl http://127.0.0.1:8080/

Granted without asking: system programs and libraries, the working directory for reading, a private
HOME and TMPDIR, a short list of environment variables. No network.

policy:
)";

constexpr std::string_view kBottom = R"(
Exits as the command does; 128+n: it was ended by signal n, 124: the timeout, 125: nothing was run
or the run was lost, 126: the command cannot be executed, 127: it was not found.
)";

std::unique_ptr<RunRenderer> renderer_for(const RunOptions& options, Context& context) {
  if (options.json) return std::make_unique<JsonRenderer>(context.out);
  return std::make_unique<TextRenderer>(context.out, context.messages, options.verbose);
}

// Errors of a run that is on its way: it may have run, and its end is not known.
Error lost(Error error) {
  error.hint = "what it did until now is done; guardd.log beside guardd's socket may say more";
  return std::move(error).within("the run was lost");
}

// Follows the run to its end.
class Follow {
 public:
  Follow(std::shared_ptr<LiveRun> live, RunRenderer& renderer)
      : live_(std::move(live)), renderer_(renderer) {}

  // `started` is called once with the report, when the program runs and before that is shown.
  template <class Callback>
  Result<int> to_the_end(Callback started) {
    bool any = false;
    while (true) {
      auto event = live_->call->next();
      if (!event) {
        return std::unexpected(any ? lost(std::move(event).error()) : std::move(event).error());
      }
      if (!*event) return failure(Errc::kInternal, "guardd ended the run without a result");
      any = true;
      if (auto* begun = std::get_if<run::Started>(&(*event)->what)) started(begun->report);
      if (auto shown = renderer_.show(**event); !shown) return cannot_show(shown.error());
      if (const auto* done = std::get_if<run::Finished>(&(*event)->what)) {
        return run::exit_code_for(done->result);
      }
    }
  }

 private:
  // Nobody reads what the program writes. Called directly it would die of SIGPIPE.
  Result<int> cannot_show(const Error& error) {
    live_->call->cancel();
    if (error.os_errno == EPIPE) return 128 + SIGPIPE;
    return std::unexpected(error);
  }

  std::shared_ptr<LiveRun> live_;
  RunRenderer& renderer_;
};

}  // namespace

std::string RunCommand::help() const {
  return std::string(kTop) + flag_help(sandbox::policy_flag_table()) + "\nthe run:\n" +
         flag_help(run_flag_table(RunVerb::kRun)) + std::string(kBottom);
}

int RunCommand::exit_code_for(const Error& error) const { return run::exit_code_for(error); }

Result<int> RunCommand::run(std::span<const std::string> arguments, Context& context) const {
  GUARD_ASSIGN(const RunOptions options, parse_run_options(RunVerb::kRun, arguments, context.cwd));
  if (options.help) {
    GUARD_TRY(context.out.write(help()));
    return 0;
  }
  GUARD_ASSIGN(const RunPlan plan,
               plan_run(options, {context.environment, context.cwd, context.umask}));
  GUARD_ASSIGN(const std::string socket, os::socket_path(options.socket.value_or("")));
  for (const std::string& note : plan.notes) context.messages.note(note);

  std::optional<SignalRelay> signals;  // before gRPC makes threads
  if (context.is_process) signals.emplace();
  const auto live = std::make_shared<LiveRun>();
  GUARD_ASSIGN(live->client, context.connect({socket, true}));
  GUARD_ASSIGN(live->call, live->client->run(plan.spec));
  if (signals) signals->attach(live);

  const auto renderer = renderer_for(options, context);
  auto code = Follow(live, *renderer).to_the_end([&](sandbox::Report& report) {
    for (std::string& link : run::links_that_lead_out(plan.spec.argv, plan.spec.cwd, report)) {
      report.warnings.push_back(std::move(link));
    }
    if (options.relay_stdin) {
      relay_stdin(context.stdin_fd, live);
    } else {
      live->call->close_stdin();
    }
  });
  if (!code && signals && signals->cancelled_by() != 0) return 128 + signals->cancelled_by();
  return code;
}

}  // namespace guard::client
