#include "client/cli/run_relay.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace guard::client {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPiece = 64u << 10;

// Ready or ended. False: it cannot be read, now or ever.
bool wait_readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  while (true) {
    const int ready = ::poll(&waiting, 1, -1);
    if (ready > 0) return (waiting.revents & POLLNVAL) == 0;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool is_in_foreground(int terminal) {
  const pid_t foreground = ::tcgetpgrp(terminal);
  return foreground < 0 || foreground == ::getpgrp();  // < 0: not our terminal, nobody stops us
}

void read_all(int fd, RunCall& call) {
  const bool terminal = ::isatty(fd) == 1;
  std::vector<char> buffer(kPiece);
  while (wait_readable(fd)) {
    if (terminal && !is_in_foreground(fd)) {
      // Becoming the foreground sends no event that a thread could wait for.
      std::this_thread::sleep_for(100ms);
      continue;
    }
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    // EIO: the background, since we looked; or a terminal that hung up.
    if (got < 0 && errno == EIO && terminal && !is_in_foreground(fd)) continue;
    if (got <= 0) return;  // its end; a directory and the like have none of it
    if (!call.send_stdin({buffer.data(), static_cast<std::size_t>(got)})) return;
  }
}

}  // namespace

void relay_stdin(int fd, std::shared_ptr<LiveRun> run) {
  std::thread([fd, run = std::move(run)] {
    read_all(fd, *run->call);
    run->call->close_stdin();
  }).detach();
}

SignalRelay::SignalRelay() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP}) {
    struct sigaction action{};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&signals, number);
  }
  ::sigaddset(&signals, SIGCONT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // See read_all(): a read from the background fails instead of stopping us. Writing to the
  // terminal from there is as the terminal is set (stty tostop).
  ::signal(SIGTTIN, SIG_IGN);
  std::thread(&SignalRelay::forward, signals, state_).detach();
}

void SignalRelay::attach(std::shared_ptr<LiveRun> run) {
  const std::lock_guard lock(state_->mutex);
  state_->run = std::move(run);
}

int SignalRelay::cancelled_by() const {
  const std::lock_guard lock(state_->mutex);
  return state_->cancelled_by;
}

void SignalRelay::handle(State& state, int number) {
  const std::lock_guard lock(state.mutex);
  if (!state.run) {
    if (number == SIGCONT) return;
    if (number == SIGTSTP) {
      ::kill(::getpid(), SIGSTOP);
      return;
    }
    ::_exit(128 + number);
  }
  RunCall& call = *state.run->call;
  if (number == SIGTSTP) {
    (void)call.signal(SIGSTOP);  // its group is an orphaned one, which drops SIGTSTP
    ::kill(::getpid(), SIGSTOP);
    return;
  }
  const bool again = number == SIGINT && ++state.interrupts > 1;
  const bool sent = !again && call.signal(number);
  const bool ends = number != SIGCONT && number != SIGUSR1 && number != SIGUSR2;
  if (again || (!sent && ends)) {
    state.cancelled_by = number;
    call.cancel();
  }
}

void SignalRelay::forward(const sigset_t& signals, std::shared_ptr<State> state) {
  while (true) {
    int number = 0;
    if (::sigwait(&signals, &number) == 0) handle(*state, number);
  }
}

}  // namespace guard::client
