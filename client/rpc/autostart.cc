#include "client/rpc/autostart.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/visible.h"
#include "common/os/clock.h"
#include "common/os/pipe.h"
#include "common/os/runtime_dir.h"
#include "common/os/sys.h"

namespace guard::client {
namespace {

using namespace std::chrono_literals;

constexpr auto kReadyWithin = 20s;
constexpr off_t kLogMaxBytes = 1 << 20;
constexpr const char* kLogName = "guardd.log";
constexpr const char* kLockName = "autostart.lock";
constexpr const char* kIdleExit = "5m";
constexpr int kReadyFd = 3;  // in the daemon

constexpr std::array<std::string_view, 13> kPass = {
    "HOME", "USER", "LOGNAME", "PATH", "LANG", "TZ", "GUARD_LANDLOCK_ABI_MAX", "GUARDD_SOCKET",
    // How a build with sanitizers reports; without meaning to any other.
    "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "MSAN_OPTIONS"};

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

// One client at a time. Not waited for longer than a start may take: the holder may be stopped, and
// guardd has a lock of its own.
os::UniqueFd take_turn(int folder) {
  auto lock = os::open_at(folder, kLockName, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!lock) return {};
  const os::Instant deadline = os::now() + kReadyWithin;
  while (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return {};
    if (os::now() > deadline) return {};
    std::this_thread::sleep_for(2ms);  // flock(2) has no timeout
  }
  return std::move(*lock);
}

struct Log {
  os::UniqueFd fd;
  off_t start = 0;  // where the new daemon's lines begin
};

Result<Log> open_log(int folder) {
  Log log;
  GUARD_ASSIGN(log.fd, os::open_at(folder, kLogName,
                                   O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0600));
  GUARD_ASSIGN(const struct stat status, os::stat_of(log.fd.get()));
  if (!S_ISREG(status.st_mode)) return failure(Errc::kDenied, "guardd.log is not a regular file");
  log.start = status.st_size;
  if (log.start > kLogMaxBytes && ::ftruncate(log.fd.get(), 0) == 0) log.start = 0;
  return log;
}

// The last line that the daemon wrote before it gave up.
std::string last_line(const Log& log) {
  std::string text(8192, '\0');
  const ssize_t got = ::pread(log.fd.get(), text.data(), text.size(), log.start);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return visible(newline == std::string::npos ? text : text.substr(newline + 1));
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Everything that the new process needs, made before the fork: afterwards only system calls.
struct DaemonStart {
  std::string file;
  std::vector<std::string> argv, env;
  int null_fd = -1, log_fd = -1, ready_fd = -1;  // all above 2
};

void reset_signals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number <= 64; ++number) (void)::sigaction(number, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_daemon(const DaemonStart& start, char* const* argv, char* const* env) {
  reset_signals();
  ::umask(077);
  (void)!::chdir("/");
  ::dup2(start.null_fd, STDIN_FILENO);
  ::dup2(start.null_fd, STDOUT_FILENO);
  ::dup2(start.log_fd, STDERR_FILENO);
  if (start.ready_fd == kReadyFd) {
    ::fcntl(kReadyFd, F_SETFD, 0);
  } else {
    ::dup2(start.ready_fd, kReadyFd);
  }
  ::syscall(SYS_close_range, kReadyFd + 1, ~0u, 0);
  ::execve(start.file.c_str(), argv, env);
  // The one byte that "ready" does not start with.
  const char failed = '!';
  (void)!::write(kReadyFd, &failed, 1);
  ::_exit(127);
}

// Forks twice, so that the daemon is init's child and its end nobody's zombie.
Result<> spawn(DaemonStart start) {
  const std::vector<char*> argv = pointers_to(start.argv);
  const std::vector<char*> env = pointers_to(start.env);
  const pid_t child = ::fork();
  if (child < 0) return os_failure("fork for guardd");
  if (child == 0) {
    ::setsid();
    const pid_t daemon = ::fork();
    if (daemon == 0) become_daemon(start, argv.data(), env.data());
    ::_exit(daemon < 0 ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return failure(Errc::kExhausted, "fork for guardd failed");
  return {};
}

enum class Said { kReady, kEnded, kNotExecuted, kNothing };

Said await_ready(int fd) {
  const os::Instant deadline = os::now() + kReadyWithin;
  std::string said;
  while (said != "ready\n") {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, os::poll_timeout(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Said::kNothing;
    char byte = 0;
    const auto got = os::read_some(fd, &byte, 1);
    if (!got || *got == 0) return Said::kEnded;
    if (byte == '!') return Said::kNotExecuted;
    said += byte;
    if (said.size() > 6) return Said::kEnded;
  }
  return Said::kReady;
}

struct Started {
  Said said = Said::kNothing;
  Log log;
};

Result<Started> start_guardd(const std::string& socket, int folder) {
  Started started;
  DaemonStart start;
  GUARD_ASSIGN(start.file, find_guardd());
  GUARD_ASSIGN(started.log, open_log(folder));
  GUARD_ASSIGN(const os::UniqueFd null, os::open("/dev/null", O_RDWR));
  GUARD_ASSIGN(os::Pipe ready, os::make_pipe());
  start.argv = {start.file,    "--socket", socket, "--ready-fd", std::to_string(kReadyFd),
                "--idle-exit", kIdleExit};
  std::vector<std::string> caller;
  for (char** variable = environ; *variable != nullptr; ++variable) caller.emplace_back(*variable);
  start.env = daemon_environment(caller);
  start.null_fd = null.get();
  start.log_fd = started.log.fd.get();
  start.ready_fd = ready.write.get();
  const std::string file = start.file;
  GUARD_TRY(spawn(std::move(start)));
  ready.write.reset();
  started.said = await_ready(ready.read.get());
  if (started.said == Said::kNotExecuted) {
    return failure(Errc::kUnavailable, "'" + visible(file) + "' cannot be executed");
  }
  return started;
}

}  // namespace

std::vector<std::string> guardd_candidates(std::string_view executable) {
  const std::string folder = folder_of(executable);
  return {folder + "/guardd", folder + "/../libexec/guardd/guardd", folder + "/../sbin/guardd"};
}

Result<std::string> find_guardd() {
  GUARD_ASSIGN(const std::string executable, os::read_link_at(AT_FDCWD, "/proc/self/exe"));
  for (const std::string& candidate : guardd_candidates(executable)) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return failure(Errc::kUnavailable, "no guardd beside '" + visible(executable) + "'",
                 "install guardd and guardctl together, or start guardd by hand");
}

std::vector<std::string> daemon_environment(const std::vector<std::string>& caller) {
  std::vector<std::string> passed;
  for (const std::string& variable : caller) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    if (name.starts_with("XDG_") || std::ranges::find(kPass, name) != kPass.end()) {
      passed.push_back(variable);
    }
  }
  return passed;
}

Result<os::UniqueFd> start_and_connect(const std::string& socket,
                                       const std::function<Result<os::UniqueFd>()>& connect) {
  const std::string folder = folder_of(socket);
  GUARD_ASSIGN(const os::UniqueFd folder_fd, os::open_private_directory(folder));
  const os::UniqueFd turn = take_turn(folder_fd.get());
  // Somebody else may have started it while we waited for our turn.
  if (auto connected = connect()) return connected;

  GUARD_ASSIGN(const Started started, start_guardd(socket, folder_fd.get()));
  // Also when it has ended: "already running" means that another one listens.
  if (auto connected = connect()) return connected;
  const std::string log = folder + "/" + kLogName;
  if (started.said == Said::kNothing) {
    return failure(Errc::kUnavailable, "guardd has not become ready within 20 s",
                   "its log: " + visible(log));
  }
  const std::string line = last_line(started.log);
  return failure(Errc::kUnavailable, "guardd did not start" + (line.empty() ? "" : ": " + line),
                 "its log: " + visible(log));
}

}  // namespace guard::client
