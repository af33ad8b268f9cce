#include "client/cli/check_command.h"

#include "client/cli/flags.h"
#include "client/cli/run_options.h"
#include "common/os/runtime_dir.h"
#include "common/run/granted.h"
#include "common/sandbox/report_json.h"
#include "common/sandbox/report_text.h"

namespace guard::client {

std::string CheckCommand::help() const {
  return "usage: guardctl check [flags] [-- command [argument...]]\n\n"
         "Prints the report that `guardctl run` with the same flags would get, and runs "
         "nothing.\n\n"
         "policy:\n" +
         flag_help(sandbox::policy_flag_table()) + "\nthe report:\n" +
         flag_help(run_flag_table(RunVerb::kCheck));
}

Result<int> CheckCommand::run(std::span<const std::string> arguments, Context& context) const {
  GUARD_ASSIGN(const RunOptions options,
               parse_run_options(RunVerb::kCheck, arguments, context.cwd));
  if (options.help) {
    GUARD_TRY(context.out.write(help()));
    return 0;
  }
  GUARD_ASSIGN(const RunPlan plan,
               plan_run(options, {context.environment, context.cwd, context.umask}));
  GUARD_ASSIGN(const std::string socket, os::socket_path(options.socket.value_or("")));
  GUARD_ASSIGN(const std::unique_ptr<GuardClient> client, context.connect({socket, true}));
  GUARD_ASSIGN(sandbox::Report report, client->check(plan.spec.policy, plan.spec.cwd_grant));
  report.env_passed = static_cast<std::uint32_t>(plan.spec.env.size());
  report.env_withheld = plan.spec.env_withheld;
  for (const std::string& note : plan.notes) report.warnings.push_back(note);
  for (std::string& link : run::links_that_lead_out(plan.spec.argv, plan.spec.cwd, report)) {
    report.warnings.push_back(std::move(link));
  }
  const std::string text =
      options.json ? sandbox::report_json(report) + "\n"
                   : sandbox::report_text(report, {context.messages.prefix(), options.verbose});
  GUARD_TRY(context.out.write(text));
  return 0;
}

}  // namespace guard::client
