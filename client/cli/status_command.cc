#include "client/cli/status_command.h"

#include <array>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/command_line.h"
#include "client/render/time_text.h"
#include "common/base/version.h"
#include "common/base/visible.h"

namespace guard::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kTable{
    sandbox::FlagRow{"--json", "", "print one line of JSON"},
    kSocketRow,
    kHelpRow,
};
constexpr std::array kShort{kHelpShort};

struct Status {
  std::string socket;
  DaemonFacts daemon;
  std::optional<RunList> runs;  // none: a guardd that cannot list them
};

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_json(const Status& status, run::WallTime now) {
  const DaemonFacts& daemon = status.daemon;
  Json json;
  json["running"] = true;
  json["socket"] = status.socket;
  json["pid"] = daemon.pid;
  json["version"] = daemon.version;
  json["client_version"] = kVersion;
  json["started_at"] = nullptr;
  json["uptime_s"] = nullptr;
  if (daemon.started_at) {
    json["started_at"] = time_text(*daemon.started_at);
    json["uptime_s"] =
        std::chrono::duration_cast<std::chrono::seconds>(now - *daemon.started_at).count();
  }
  json["kernel"] = daemon.kernel;
  json["landlock_abi"] = daemon.landlock_abi;
  json["landlock_abi_kernel"] = daemon.landlock_abi_kernel;
  json["tree_kill"] = daemon.tree_kill;
  json["runs_live"] = nullptr;
  json["results_kept"] = nullptr;
  if (status.runs) {
    json["runs_live"] = status.runs->live;
    json["results_kept"] = status.runs->kept;
  }
  json["features"] = daemon.features;
  return json_line(json);
}

std::string as_text(const Status& status, run::WallTime now) {
  const DaemonFacts& daemon = status.daemon;
  std::string text;
  const auto line = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("{:<11}{}\n", name, visible(value));
  };
  line("guardd", fmt::format("{}, pid {}", daemon.version, daemon.pid));
  if (daemon.version != kVersion) line("guardctl", kVersion);
  line("socket", status.socket);
  line("uptime", daemon.started_at ? elapsed_text(now - *daemon.started_at) : "unknown");
  const std::string of_kernel =
      daemon.landlock_abi == daemon.landlock_abi_kernel
          ? ""
          : fmt::format(" (the kernel has {})", daemon.landlock_abi_kernel);
  line("kernel",
       fmt::format("{}, Landlock ABI {}{}", daemon.kernel, daemon.landlock_abi, of_kernel));
  line("tree kill", daemon.tree_kill);
  line("runs", status.runs
                   ? fmt::format("{} live, {} results kept", status.runs->live, status.runs->kept)
                   : "unknown");
  return text;
}

std::string not_running(const std::string& socket, bool json) {
  if (json) return json_line({{"running", false}, {"socket", socket}});
  return "no guardd runs at " + visible(socket) + "\n";
}

}  // namespace

std::string StatusCommand::help() const {
  return "usage: guardctl status [flags]\n\n"
         "Tells whether a guardd runs, and of one that does its version, pid, socket, uptime,\n"
         "kernel and runs. None is started.\n\n" +
         flag_help(kTable) +
         "\nExits with 0 when one runs, 1 when none does, 5 when it does not answer. --json is\n"
         "described by docs/schema/status.schema.json.\n";
}

Result<int> StatusCommand::run(std::span<const std::string> arguments, Context& context) const {
  GUARD_ASSIGN(const CommandLine line, parse_command_line(arguments, kTable, kShort));
  if (line.has("--help")) {
    GUARD_TRY(context.out.write(help()));
    return 0;
  }
  if (!line.operands.empty()) return failure(Errc::kInvalid, "status takes no operands");
  Status status;
  GUARD_ASSIGN(status.socket, socket_of(line));
  const bool json = line.has("--json");
  const auto client = context.connect({status.socket, false});
  if (!client) {
    if (!none_listens(client.error())) return std::unexpected(client.error());
    GUARD_TRY(context.out.write(not_running(status.socket, json)));
    return kExitNo;
  }
  GUARD_ASSIGN(status.daemon, (*client)->capabilities());
  auto runs = (*client)->list(false);
  if (runs) {
    status.runs = *std::move(runs);
  } else if (runs.error().code != Errc::kUnimplemented) {
    return std::unexpected(std::move(runs).error());
  }
  const auto now = std::chrono::system_clock::now();
  GUARD_TRY(context.out.write(json ? as_json(status, now) : as_text(status, now)));
  return 0;
}

}  // namespace guard::client
