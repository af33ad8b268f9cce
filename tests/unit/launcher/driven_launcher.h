// A real guard-launcher ($GUARD_BIN_DIR) on the other end of a socket pair, driven as guardd does.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "common/os/unique_fd.h"
#include "common/supervise/launch_protocol.h"

namespace guard::launcher {

using supervise::EventKind;
using supervise::MonitorEvent;

// How long may be waited for something on this machine: $GUARD_SLOW times the limit, where an
// emulated processor makes everything that much slower.
std::chrono::milliseconds patient(std::chrono::milliseconds limit);

// A Launch of `argv`, unconfined, as /bin/sh users mean it; argv[0] has a slash.
supervise::Launch launch_of(std::vector<std::string> argv);
supervise::Launch shell(const std::string& script);

// One run: guardd's ends of its control socket and of its output.
class DrivenRun {
 public:
  // The next event; none when the socket has ended or `patience` is over.
  std::optional<MonitorEvent> next(std::chrono::milliseconds patience = std::chrono::seconds(10));
  // Everything up to and with kFinished.
  std::vector<MonitorEvent> finish();
  // Standard output to its end.
  std::string output();
  // The next line of it, for meeting the program at a point.
  std::string line();
  void order(supervise::OrderKind kind, int signal = 0);
  void hang_up() { control_.reset(); }
  pid_t monitor();                                 // waits for kStarted: the parent of the program
  bool ended(std::chrono::milliseconds patience);  // of the control socket, whatever came before

 private:
  friend class DrivenLauncher;
  os::UniqueFd control_, stdout_;
};

// It is started as unkindly as can be: ignored and blocked signals, umask 0, a leaked descriptor,
// an environment with a secret.
class DrivenLauncher {
 public:
  struct Hardship {
    unsigned processes = 0;             // RLIMIT_NPROC, 0 for none
    bool no_user_notification = false;  // as on a kernel before 5.0
  };
  // `environment`: NAME=value, besides the secret.
  explicit DrivenLauncher(std::vector<std::string> environment, const Hardship& hardship);
  explicit DrivenLauncher(std::vector<std::string> environment = {})
      : DrivenLauncher(std::move(environment), Hardship{}) {}
  ~DrivenLauncher();
  DrivenLauncher(const DrivenLauncher&) = delete;
  DrivenLauncher& operator=(const DrivenLauncher&) = delete;

  pid_t pid() const { return pid_; }
  // Sends it with /dev/null as input, `cwd` and the other descriptors of `fds` as given.
  DrivenRun start(const supervise::Launch& launch, supervise::LaunchFds fds = {});
  int control() const { return control_.get(); }
  void hang_up() { control_.reset(); }
  int wait_for_exit();  // its wait status

 private:
  pid_t pid_ = 0;
  os::UniqueFd control_;
};

std::string probe(const std::string& name);  // the path of tests/*/probes/NAME.c, built

// Living processes (not zombies) whose command line holds `marker`.
std::vector<pid_t> living_with(const std::string& marker);
// Waits for there to be none; what is left after `patience`.
std::vector<pid_t> survivors(const std::string& marker, std::chrono::milliseconds patience);
// A text that no other process's command line holds.
std::string unique_marker();

}  // namespace guard::launcher
