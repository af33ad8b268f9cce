// What goes from this process into a run: its standard input and its signals, each by a thread that
// is never joined, for a read(2) of a terminal ends when it likes. The process leaves by _exit(2).
#pragma once

#include <csignal>
#include <memory>
#include <mutex>

#include "client/rpc/guard_client.h"

namespace guard::client {

// A run and the client that it belongs to, held by every thread that uses them.
struct LiveRun {
  std::unique_ptr<GuardClient> client;
  std::unique_ptr<RunCall> call;
};

// Reads `fd` to its end and sends it on, then closes the run's standard input. A closed descriptor
// is an empty input. A terminal is read only while we are in its foreground: reading it from the
// background would stop us (SIGTTIN), as it would stop a program that reads, but not one that does
// not. Returns at once.
void relay_stdin(int fd, std::shared_ptr<LiveRun> run);

// Signals that would end us go to the program instead: INT, TERM, HUP, QUIT, USR1, USR2; those that
// were ignored when we started stay so (nohup). A second INT cancels the run. TSTP stops the
// program, then us; continued, so is it. Made before any other thread, so that all of them have the
// signals blocked.
class SignalRelay {
 public:
  SignalRelay();

  // From now on there is somebody to send them to; before, a signal ends the process.
  void attach(std::shared_ptr<LiveRun> run);

  // The signal for which the run was cancelled; 0: it was not.
  int cancelled_by() const;

 private:
  struct State {
    mutable std::mutex mutex;
    std::shared_ptr<LiveRun> run;
    int interrupts = 0;
    int cancelled_by = 0;
  };
  static void handle(State& state, int number);
  static void forward(const sigset_t& signals, std::shared_ptr<State> state);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace guard::client
