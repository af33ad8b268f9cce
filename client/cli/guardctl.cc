#include "client/cli/guardctl.h"

#include <array>
#include <vector>

#include "client/cli/check_command.h"
#include "client/cli/daemon_command.h"
#include "client/cli/doctor_command.h"
#include "client/cli/kill_command.h"
#include "client/cli/ps_command.h"
#include "client/cli/run_command.h"
#include "client/cli/status_command.h"
#include "client/cli/wait_command.h"
#include "client/doctor/gather.h"
#include "common/base/nearest.h"
#include "common/base/version.h"
#include "common/base/visible.h"

namespace guard::client {
namespace {

// In the order in which help lists them.
std::span<const Command* const> commands() {
  static const RunCommand run;
  static const CheckCommand check;
  static const PsCommand ps;
  static const WaitCommand wait;
  static const KillCommand kill;
  static const StatusCommand status;
  static const DaemonCommand daemon;
  static const DoctorCommand doctor(doctor::gather);
  static const std::array<const Command*, 8> all{&run,  &check,  &ps,     &wait,
                                                 &kill, &status, &daemon, &doctor};
  return all;
}

const Command* find_command(std::string_view name) {
  for (const Command* command : commands()) {
    if (command->name() == name) return command;
  }
  return nullptr;
}

std::string overview() {
  std::string text =
      "usage: guardctl command [flags]\n\nRuns programs confined, through guardd.\n\n";
  const auto line = [&text](std::string_view name, std::string_view summary) {
    std::string left = "  " + std::string(name);
    left.resize(12, ' ');
    text += left + std::string(summary) + "\n";
  };
  for (const Command* command : commands()) line(command->name(), command->summary());
  line("version", "print the version");
  line("help", "print this, or the help of a command");
  return text + "\nguardctl help run\n";
}

int print(std::string_view text, Context& context) {
  const auto written = context.out.write(text);
  if (written) return 0;
  context.messages.error(written.error());
  return kExitInfrastructure;
}

int bad_usage(std::string_view message, std::string_view hint, Context& context) {
  context.messages.error(message, hint);
  return kExitBadUsage;
}

int unknown_command(std::string_view name, Context& context) {
  std::vector<std::string_view> known{"help", "version"};
  for (const Command* command : commands()) known.push_back(command->name());
  const std::string_view near = nearest(name, known);
  const std::string hint =
      near.empty() ? "guardctl help lists the commands" : "did you mean " + std::string(near) + "?";
  return bad_usage("unknown command '" + visible(name) + "'", hint, context);
}

int print_help(std::span<const std::string> arguments, Context& context) {
  if (arguments.empty()) return print(overview(), context);
  const Command* command = find_command(arguments[0]);
  return command ? print(command->help(), context) : unknown_command(arguments[0], context);
}

}  // namespace

int guardctl(std::span<const std::string> arguments, Context& context) {
  if (arguments.empty()) {
    context.messages.lines(overview());
    return kExitBadUsage;
  }
  const std::string& verb = arguments[0];
  const auto rest = arguments.subspan(1);
  if (verb == "help" || verb == "--help" || verb == "-h") return print_help(rest, context);
  if (verb == "version" || verb == "--version") {
    if (!rest.empty()) return bad_usage("version takes no arguments", "", context);
    return print("guardctl " + std::string(kVersion) + "\n", context);
  }
  const Command* command = find_command(verb);
  if (command == nullptr) return unknown_command(verb, context);
  const auto code = command->run(rest, context);
  if (code) return *code;
  context.messages.error(code.error());
  return command->exit_code_for(code.error());
}

}  // namespace guard::client
