// guardd: the broker. Started by a person, by guardctl, or by a service manager.
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "common/base/visible.h"
#include "common/os/peer.h"
#include "common/os/runtime_dir.h"
#include "common/supervise/run_cgroup.h"
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/leaf_cgroup.h"
#include "daemon/process.h"
#include "daemon/transport/activation.h"

namespace guard::daemon {
namespace {

Result<Listener> listen(const Config& config, std::optional<os::UniqueFd> passed) {
  if (!passed) {
    GUARD_ASSIGN(const std::string socket, os::socket_path(config.socket));
    return Listener::open(socket);
  }
  GUARD_ASSIGN(Listener listener, Listener::inherit(*std::move(passed)));
  if (!config.socket.empty() && config.socket != listener.path()) {
    return failure(Errc::kInvalid,
                   "--socket '" + visible(config.socket) +
                       "' is not the socket that was passed, '" + visible(listener.path()) + "'",
                   "leave --socket out");
  }
  return listener;
}

Result<> run(Config config) {
  GUARD_TRY(refuse_setuid());
  GUARD_ASSIGN(Activation activation, take_activation());
  GUARD_TRY(tidy_process({config.ready_fd, activation.socket ? activation.socket->get() : -1}));
  // First of all: a second guardd must leave everything as it is.
  GUARD_ASSIGN(Listener listener, listen(config, std::move(activation.socket)));
  std::optional<Cookie> cookie;
  if (!os::knows_peer_pidfds()) {
    GUARD_ASSIGN(Cookie made, Cookie::create(listener.path()));
    cookie.emplace(std::move(made));
    spdlog::info("this kernel cannot pin callers (SO_PEERPIDFD): calls need guardd.cookie");
  }
  os::UniqueFd cgroups;
  if (config.leaf_cgroup) {
    if (auto entered = enter_leaf_cgroup(); entered) {
      cgroups = *std::move(entered);
      supervise::end_stale_cgroups(cgroups.get());
    } else {
      spdlog::warn("--leaf-cgroup: {}", entered.error().message());
    }
  }
  GUARD_ASSIGN(std::string launcher, find_launcher());
  GUARD_ASSIGN(auto kernel, sandbox::probe());
  GUARD_ASSIGN(auto scratch, os::ScratchRoot::open());
  GUARD_TRY(scratch.ensure_canary());
  const std::string socket = listener.path();
  Daemon daemon(std::move(config), {.listener = std::move(listener),
                                    .cookie = std::move(cookie),
                                    .manager = std::move(activation.manager),
                                    .launcher = std::move(launcher),
                                    .open_files = raise_open_files(),
                                    .cgroups = std::move(cgroups),
                                    .kernel = std::move(kernel),
                                    .protected_folders = {os::protected_folders(socket)},
                                    .scratch = std::move(scratch)});
  return daemon.serve();
}

}  // namespace
}  // namespace guard::daemon

int main(int argc, char** argv) {
  auto parsed = guard::daemon::parse_command_line(argc, argv);
  if (const auto* farewell = std::get_if<guard::daemon::Farewell>(&parsed)) {
    std::fputs(farewell->text.c_str(), farewell->exit_code == 0 ? stdout : stderr);
    return farewell->exit_code;
  }
  auto& config = std::get<guard::daemon::Config>(parsed);
  spdlog::set_default_logger(spdlog::stderr_logger_mt("guardd"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e guardd %l: %v");
  spdlog::set_level(spdlog::level::from_str(config.log_level));
  const auto served = guard::daemon::run(std::move(config));
  if (served) return 0;
  const guard::Error& error = served.error();
  std::fprintf(stderr, "guardd: %s%s%s\n", error.message().c_str(), error.hint.empty() ? "" : "; ",
               error.hint.c_str());
  return 1;
}
