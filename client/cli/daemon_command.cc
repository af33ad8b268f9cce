#include "client/cli/daemon_command.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "client/cli/command_line.h"
#include "client/cli/status_command.h"
#include "common/base/visible.h"
#include "common/os/clock.h"
#include "common/os/pidfd.h"

namespace guard::client {
namespace {

constexpr std::array kTable{kSocketRow, kHelpRow};
constexpr std::array kShort{kHelpShort};

// Longer than guardd's own way down takes, with runs that have to be killed.
constexpr std::chrono::seconds kEndsWithin{15};

std::string name_of(const DaemonFacts& daemon) {
  return fmt::format("guardd {} (pid {})", visible(daemon.version), daemon.pid);
}

Result<int> say(const std::string& text, Context& context) {
  GUARD_TRY(context.out.write(text + "\n"));
  return 0;
}

Result<int> start(const std::string& socket, Context& context) {
  auto client = context.connect({socket, false});
  const bool runs_already = client.has_value();
  if (!runs_already) {
    if (!none_listens(client.error())) return std::unexpected(client.error());
    client = context.connect({socket, true});
    if (!client) return std::unexpected(client.error());
  }
  GUARD_ASSIGN(const DaemonFacts daemon, (*client)->capabilities());
  if (runs_already) return say(name_of(daemon) + " runs already at " + visible(socket), context);
  return say("started " + name_of(daemon) + " at " + visible(socket), context);
}

// A process that is not a guardd any more must not get its signal: the number is asked for again
// once the descriptor is held, on the same connection, and only that guardd can answer there.
Result<os::UniqueFd> hold(GuardClient& client, const DaemonFacts& daemon) {
  if (daemon.pid <= 1) return failure(Errc::kInternal, "guardd does not tell its pid");
  GUARD_ASSIGN(os::UniqueFd process, os::pidfd_open(daemon.pid));
  GUARD_ASSIGN(const DaemonFacts again, client.capabilities());
  if (again.pid != daemon.pid) return failure(Errc::kInternal, "guardd changed its pid");
  return process;
}

bool ends_in_time(int process) {
  const os::Instant deadline = os::now() + kEndsWithin;
  while (true) {
    pollfd waiting{process, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, os::poll_timeout(deadline));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

Result<int> stop(const std::string& socket, Context& context) {
  auto client = context.connect({socket, false});
  if (!client) {
    if (!none_listens(client.error())) return std::unexpected(client.error());
    return say("no guardd runs at " + visible(socket), context);
  }
  GUARD_ASSIGN(const DaemonFacts daemon, (*client)->capabilities());
  GUARD_ASSIGN(const os::UniqueFd process, hold(**client, daemon));
  GUARD_TRY(os::pidfd_signal(process.get(), SIGTERM));
  client->reset();  // guardd ends sooner when it has no connections
  if (!ends_in_time(process.get())) {
    return failure(Errc::kUnavailable, name_of(daemon) + " has not ended within 15 s",
                   "its log, guardd.log beside the socket, may say why");
  }
  return say(name_of(daemon) + " has ended", context);
}

}  // namespace

std::string DaemonCommand::help() const {
  return "usage: guardctl daemon start|stop|status [flags]\n\n"
         "start   starts guardd when none runs, as `guardctl run` does: it ends by itself after\n"
         "        five idle minutes, and logs to guardd.log beside its socket\n"
         "stop    ends guardd: new runs are refused, those that live get SIGTERM, their grace,\n"
         "        then SIGKILL, and their clients get their results; returns when it has ended\n"
         "status  as guardctl status\n\n" +
         flag_help(kTable) +
         "\nExits with 0 also when guardd runs already, or when there was none to stop; with 5\n"
         "when it could not be started or has not ended within 15 seconds.\n";
}

Result<int> DaemonCommand::run(std::span<const std::string> arguments, Context& context) const {
  if (!arguments.empty() && arguments[0] == "status") {
    return StatusCommand().run(arguments.subspan(1), context);
  }
  GUARD_ASSIGN(const CommandLine line, parse_command_line(arguments, kTable, kShort));
  if (line.has("--help")) {
    GUARD_TRY(context.out.write(help()));
    return 0;
  }
  const std::string what = line.operands.size() == 1 ? line.operands[0] : "";
  if (what != "start" && what != "stop") {
    return failure(Errc::kInvalid, "daemon takes one of start, stop and status");
  }
  GUARD_ASSIGN(const std::string socket, socket_of(line));
  return what == "start" ? start(socket, context) : stop(socket, context);
}

}  // namespace guard::client
