#include "tests/unit/launcher/driven_launcher.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <gtest/gtest.h>

#include "common/os/clock.h"
#include "common/os/pipe.h"
#include "common/os/proc_stat.h"
#include "common/os/seqpacket.h"
#include "common/os/sys.h"
#include "common/sandbox/seccomp/program.h"
#include "common/sandbox/seccomp/syscall_numbers.h"

namespace guard::launcher {
namespace {

using supervise::LaunchFd;

os::UniqueFd& slot(supervise::LaunchFds& fds, LaunchFd which) {
  return fds[static_cast<std::size_t>(which)];
}

std::string bin_folder() {
  const char* folder = std::getenv("GUARD_BIN_DIR");
  return folder != nullptr ? folder : "build/dev/bin";
}

// seccomp(SECCOMP_GET_NOTIF_SIZES) is EINVAL from now on.
void lose_user_notification() {
  seccomp::Assembler code;
  const auto other = code.label();
  code.load(seccomp::kNumberOffset);
  code.if_not_equal(SYS_seccomp, other);
  code.load(seccomp::low_offset(0));
  code.if_not_equal(SECCOMP_GET_NOTIF_SIZES, other);
  code.ret(seccomp::errno_action(EINVAL));
  code.bind(other);
  code.ret(SECCOMP_RET_ALLOW);
  auto filter = *code.finish();
  const sock_fprog program{static_cast<std::uint16_t>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    ::_exit(126);
}

}  // namespace

std::chrono::milliseconds patient(std::chrono::milliseconds limit) {
  const char* slow = std::getenv("GUARD_SLOW");
  return slow != nullptr ? limit * std::atoi(slow) : limit;
}

supervise::Launch launch_of(std::vector<std::string> argv) {
  supervise::Launch launch;
  launch.candidates = {argv.at(0)};
  launch.argv = std::move(argv);
  launch.env = {"PATH=/usr/bin:/bin", "LANG=C"};
  launch.confine = false;
  launch.drop_capabilities = false;
  return launch;
}

supervise::Launch shell(const std::string& script) { return launch_of({"/bin/sh", "-c", script}); }

std::optional<MonitorEvent> DrivenRun::next(std::chrono::milliseconds patience) {
  pollfd readable{.fd = control_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&readable, 1, static_cast<int>(patient(patience).count())) <= 0) return std::nullopt;
  auto event = supervise::receive_event(control_.get(), true);
  return event ? event->message : std::nullopt;
}

std::vector<MonitorEvent> DrivenRun::finish() {
  std::vector<MonitorEvent> events;
  while (const auto event = next()) {
    events.push_back(*event);
    if (event->kind == EventKind::kFinished) return events;
  }
  ADD_FAILURE() << "a run ended without kFinished";
  events.push_back({});  // so that back() is something
  return events;
}

std::string DrivenRun::output() {
  auto text = os::read_all(stdout_.get(), 64 << 20);
  return text ? *text : "unreadable";
}

std::string DrivenRun::line() {
  std::string text;
  char byte;
  while (os::read_some(stdout_.get(), &byte, 1).value_or(0) == 1 && byte != '\n') text += byte;
  return text;
}

void DrivenRun::order(supervise::OrderKind kind, int signal) {
  EXPECT_TRUE(supervise::send_order(control_.get(), {.kind = kind, .signal = signal}));
}

pid_t DrivenRun::monitor() {
  const auto started = next();
  EXPECT_TRUE(started && started->kind == EventKind::kStarted);
  return started ? os::proc_stat(started->pid).value_or(os::ProcStat{}).parent : 0;
}

bool DrivenRun::ended(std::chrono::milliseconds patience) {
  const os::Instant deadline = os::now() + patient(patience);
  while (os::now() < deadline) {
    pollfd readable{.fd = control_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, os::poll_timeout(deadline)) <= 0) return false;
    const auto event = supervise::receive_event(control_.get(), true);
    if (!event || event->ended) return true;
  }
  return false;
}

DrivenLauncher::DrivenLauncher(std::vector<std::string> environment, const Hardship& hardship) {
  // Orphans of a killed launcher come to us, as they would to guardd.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  auto ends = *os::seqpacket_pair();
  const std::string path = bin_folder() + "/guard-launcher";
  environment.emplace_back("SECRET=inherited");
  std::vector<char*> env;
  for (auto& entry : environment) env.push_back(entry.data());
  env.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    for (const int signal : {SIGPIPE, SIGCHLD, SIGUSR1, SIGHUP}) ::signal(signal, SIG_IGN);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, nullptr);
    ::umask(0);
    ::dup2(1, 77);
    const rlimit limit{hardship.processes, hardship.processes};
    if (hardship.processes > 0) ::setrlimit(RLIMIT_NPROC, &limit);
    if (hardship.no_user_notification) lose_user_notification();
    // dup2 onto itself would keep close-on-exec.
    const int raised = ::fcntl(ends.second.get(), F_DUPFD, 10);
    ::dup2(raised, 3);
    const char* argv[] = {path.c_str(), nullptr};
    ::execve(path.c_str(), const_cast<char**>(argv), env.data());
    ::_exit(127);
  }
  control_ = std::move(ends.first);
}

DrivenLauncher::~DrivenLauncher() {
  control_.reset();
  if (pid_ > 0) wait_for_exit();
  // Orphans that were reparented to us.
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

int DrivenLauncher::wait_for_exit() {
  int status = -1;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return status;
}

DrivenRun DrivenLauncher::start(const supervise::Launch& launch, supervise::LaunchFds given) {
  // A parameter lives to the end of the caller's expression, and would keep the output open.
  supervise::LaunchFds fds = std::move(given);
  DrivenRun run;
  auto control = *os::seqpacket_pair();
  auto output = *os::make_pipe();
  run.control_ = std::move(control.first);
  run.stdout_ = std::move(output.read);
  slot(fds, LaunchFd::kControl) = std::move(control.second);
  slot(fds, LaunchFd::kStdout) = std::move(output.write);
  if (!slot(fds, LaunchFd::kStdin)) slot(fds, LaunchFd::kStdin) = *os::open("/dev/null", O_RDONLY);
  if (!slot(fds, LaunchFd::kStderr))
    slot(fds, LaunchFd::kStderr) = *os::open("/dev/null", O_WRONLY);
  if (!slot(fds, LaunchFd::kCwd)) slot(fds, LaunchFd::kCwd) = *os::open("/", O_PATH | O_DIRECTORY);
  const auto sent = supervise::send_launch(control_.get(), launch, fds);
  EXPECT_TRUE(sent) << sent.error().message();
  return run;
}

std::string probe(const std::string& name) { return bin_folder() + "/../probes/" + name; }

std::vector<pid_t> living_with(const std::string& marker) {
  std::vector<pid_t> found;
  const auto all = os::all_processes();
  for (const auto& process : all.value()) {
    if (process.state == 'Z' || process.state == 'X') continue;
    const auto words = os::read_file("/proc/" + std::to_string(process.pid) + "/cmdline", 1 << 20);
    if (words && words->find(marker) != std::string::npos) found.push_back(process.pid);
  }
  return found;
}

std::vector<pid_t> survivors(const std::string& marker, std::chrono::milliseconds patience) {
  const os::Instant deadline = os::now() + patient(patience);
  for (;;) {
    auto left = living_with(marker);
    if (left.empty() || os::now() >= deadline) return left;
    ::usleep(2000);  // nobody tells when a process that is not our child ends
  }
}

std::string unique_marker() {
  static std::atomic<int> next = 0;
  return "guardmark-" + std::to_string(::getpid()) + "-" + std::to_string(++next);
}

}  // namespace guard::launcher
