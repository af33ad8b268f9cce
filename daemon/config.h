// guardd's command line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>

namespace guard::daemon {

struct Config {
  std::string socket;                                  // as given; empty: os::socket_path()'s order
  int ready_fd = -1;                                   // gets "ready\n" once clients can connect
  std::optional<std::chrono::milliseconds> idle_exit;  // unset: stays
  bool leaf_cgroup = false;  // move into a leaf of our control group, which is delegated to us
  std::string log_level = "info";
  friend bool operator==(const Config&, const Config&) = default;
};

// --help, --version, or a wrong command line: what to print where, and the exit code.
struct Farewell {
  std::string text;
  int exit_code = 0;  // 0: to standard output
  friend bool operator==(const Farewell&, const Farewell&) = default;
};

std::variant<Config, Farewell> parse_command_line(int argc, const char* const* argv);

}  // namespace guard::daemon
