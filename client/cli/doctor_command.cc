#include "client/cli/doctor_command.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "client/cli/command_line.h"
#include "client/doctor/findings.h"
#include "client/render/findings_text.h"
#include "client/render/result_json.h"
#include "common/base/version.h"

namespace guard::client {
namespace {

using doctor::DaemonState;
using doctor::Finding;
using doctor::Level;

constexpr std::array kTable{
    sandbox::FlagRow{"--json", "", "print one line of JSON"},
    kSocketRow,
    kHelpRow,
};
constexpr std::array kShort{kHelpShort};

// None is started.
void ask_guardd(doctor::GuarddFacts& guardd, Context& context) {
  // The first connection to a service manager's socket would start one.
  if (!guardd.socket || guardd.state == DaemonState::kHeld) return;
  const auto silent = [&guardd](Error error) {
    guardd.state = DaemonState::kDoesNotAnswer;
    guardd.silence = std::move(error);
  };
  const auto client = context.connect({guardd.socket->path, false});
  if (!client) {
    // Inside a sandbox there is no way to any, which is a finding of its own.
    const bool none = none_listens(client.error()) || client.error().code == Errc::kDenied;
    if (!none) silent(client.error());
    return;
  }
  auto daemon = (*client)->capabilities();
  if (!daemon) return silent(std::move(daemon).error());
  guardd.state = DaemonState::kRuns;
  guardd.daemon = *std::move(daemon);
}

bool has_problem(const doctor::Findings& findings) {
  return std::ranges::find(findings, Level::kProblem, &Finding::level) != findings.end();
}

std::string as_json(const doctor::Findings& findings) {
  Json json;
  json["version"] = kVersion;
  json["ok"] = !has_problem(findings);
  json["findings"] = Json::array();
  for (const Finding& finding : findings) {
    Json entry;
    entry["id"] = finding.id;
    entry["level"] = doctor::name_of(finding.level);
    entry["text"] = finding.text;
    entry["fix"] = finding.fix;
    json["findings"].push_back(std::move(entry));
  }
  return dump(json) + "\n";
}

}  // namespace

std::string DoctorCommand::help() const {
  return "usage: guardctl doctor [flags]\n\n"
         "Tells what this machine can enforce, whether guardd can run here, and of what is amiss\n"
         "how to mend it. Changes nothing and starts no guardd.\n\n" +
         flag_help(kTable) +
         "\nA finding is ok, a note (nothing that runs today needs it), a warning (runs work, "
         "with\n"
         "less than they could have) or a problem (they do not). Exits with 0 when there is no\n"
         "problem: runs are confined at the default level; with 1 when there is one. --json is\n"
         "described by docs/schema/doctor.schema.json, the findings by docs/doctor.md.\n";
}

Result<int> DoctorCommand::run(std::span<const std::string> arguments, Context& context) const {
  GUARD_ASSIGN(const CommandLine line, parse_command_line(arguments, kTable, kShort));
  if (line.has("--help")) {
    GUARD_TRY(context.out.write(help()));
    return 0;
  }
  if (!line.operands.empty()) return failure(Errc::kInvalid, "doctor takes no operands");
  const std::string_view socket = line.value_of(kSocketRow.name).value_or("");
  if (line.has(kSocketRow.name) && socket.empty()) {
    return failure(Errc::kInvalid, "--socket '' is empty", "give an absolute path");
  }
  doctor::Facts facts = gather_(std::string(socket));
  ask_guardd(facts.guardd, context);
  const doctor::Findings findings = doctor::findings(facts);
  GUARD_TRY(context.out.write(line.has("--json") ? as_json(findings)
                                                 : findings_text(findings, context.out_style)));
  return has_problem(findings) ? kExitNo : 0;
}

}  // namespace guard::client
