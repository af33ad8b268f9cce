#include "daemon/config.h"

#include <fcntl.h>

#include <CLI/CLI.hpp>

#include "common/base/duration_text.h"
#include "common/base/version.h"

namespace guard::daemon {
namespace {

constexpr int kUsageError = 2;

std::string check_duration(const std::string& text) {
  const auto duration = parse_duration_limit(text);
  return duration ? std::string() : duration.error().what;
}

std::string check_descriptor(const std::string& text) {
  int fd = -1;
  if (!CLI::detail::lexical_cast(text, fd) || fd < 3) return "'" + text + "' is not 3 or above";
  if (::fcntl(fd, F_GETFD) < 0) return "descriptor " + text + " is not open";
  return {};
}

}  // namespace

std::variant<Config, Farewell> parse_command_line(int argc, const char* const* argv) {
  Config config;
  std::string idle_exit = "none";
  CLI::App app("Runs commands for agents under kernel-enforced confinement.", "guardd");
  app.add_option("--socket", config.socket,
                 "Listen here. Default: $GUARDD_SOCKET, else $XDG_RUNTIME_DIR/guardd/guardd.sock, "
                 "else below /run/user/UID or /var/tmp/guardd-UID");
  app.add_option("--ready-fd", config.ready_fd, "Write \"ready\" to this descriptor when listening")
      ->check(check_descriptor);
  app.add_option("--idle-exit", idle_exit, "End after so long without runs and clients, or none")
      ->check(check_duration)
      ->capture_default_str();
  app.add_flag("--leaf-cgroup", config.leaf_cgroup,
               "Move into a leaf of the control group (v2), which is delegated to guardd");
  app.add_option("--log-level", config.log_level, "How much to say on standard error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  app.set_version_flag("--version", "guardd " + std::string(kVersion));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Farewell{app.help(), 0};
  } catch (const CLI::CallForVersion&) {
    return Farewell{"guardd " + std::string(kVersion) + "\n", 0};
  } catch (const CLI::ParseError& error) {
    return Farewell{"guardd: " + std::string(error.what()) + " (guardd --help)\n", kUsageError};
  }
  config.idle_exit = *parse_duration_limit(idle_exit);
  return config;
}

}  // namespace guard::daemon
