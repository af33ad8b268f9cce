#include "daemon/launch/launcher_client.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <spdlog/spdlog.h>

#include "common/os/pidfd.h"
#include "common/os/seqpacket.h"
#include "common/os/sys.h"
#include "common/supervise/launcher_file.h"

namespace guard::daemon {
namespace {

// One that dies sooner is not started again at once: it would die again.
constexpr std::chrono::seconds kHealthyAfter{1};
constexpr std::chrono::milliseconds kRestartPause{200};
constexpr int kEndPatienceMs = 1000;
constexpr int kAboveTheirs = 8;

// What the launcher may see of our environment: what lowers the kernel's Landlock for tests, and
// the sanitizers' settings. The environment of a run comes from its request alone.
constexpr std::string_view kPassed[] = {
    "GUARD_LANDLOCK_ABI_MAX=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "TSAN_OPTIONS=", "LSAN_OPTIONS="};

std::vector<char*> launcher_environment() {
  std::vector<char*> out;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    for (const std::string_view name : kPassed) {
      if (std::string_view(*variable).starts_with(name)) out.push_back(*variable);
    }
  }
  out.push_back(nullptr);
  return out;
}

// A lower RLIMIT_NOFILE for the time of one posix_spawn(3), which has no attribute for it. Another
// thread that opens a descriptor above it meanwhile gets EMFILE; the acceptor tries again then.
class LoweredOpenFiles {
 public:
  explicit LoweredOpenFiles(const rlimit& limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit lowered = before_;
    lowered.rlim_cur = limit.rlim_cur;
    ::setrlimit(RLIMIT_NOFILE, &lowered);
  }
  ~LoweredOpenFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  LoweredOpenFiles(const LoweredOpenFiles&) = delete;

 private:
  rlimit before_{};
};

class SpawnActions {
 public:
  SpawnActions(int socket, int cgroups) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
    // Of equal numbers it clears close-on-exec (glibc 2.29).
    ::posix_spawn_file_actions_adddup2(&actions_, socket, supervise::kLauncherSocket);
    if (cgroups >= 0)
      ::posix_spawn_file_actions_adddup2(&actions_, cgroups, supervise::kLauncherCgroups);
  }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// No signal blocked or ignored, and a session of its own: a Ctrl-C meant for guardd's terminal does
// not reach it.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none{}, all{};
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(
        &attributes_,
        static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID));
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<std::string> find_launcher() {
  GUARD_ASSIGN(const std::string self, os::read_link_at(AT_FDCWD, "/proc/self/exe"));
  const std::string folder = self.substr(0, self.rfind('/'));
  const auto candidates = supervise::launcher_candidates(folder);
  for (const std::string& path : candidates) {
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return failure(Errc::kNotFound,
                 "guard-launcher is neither '" + candidates[0] + "' nor '" + candidates[1] + "'",
                 "build or install it beside guardd");
}

LauncherClient::LauncherClient(boost::asio::io_context& loop, std::string program,
                               rlimit open_files, os::UniqueFd cgroups, std::function<void()> lost)
    : program_(std::move(program)),
      open_files_(open_files),
      cgroups_(std::move(cgroups)),
      on_lost_(std::move(lost)),
      socket_(loop),
      pause_(loop) {}

Result<> LauncherClient::start() { return spawn(); }

Result<> LauncherClient::spawn() {
  GUARD_ASSIGN(auto sockets, os::seqpacket_pair());
  GUARD_TRY(os::set_nonblocking(sockets.first.get()));
  // The numbers that it is to have may be those of other descriptors here: none of ours may be
  // overwritten before it was copied.
  GUARD_ASSIGN(const os::UniqueFd theirs, os::duplicate(sockets.second.get(), kAboveTheirs));
  os::UniqueFd cgroups;
  if (cgroups_) {
    GUARD_ASSIGN(cgroups, os::duplicate(cgroups_.get(), kAboveTheirs));
  }
  const SpawnActions actions(theirs.get(), cgroups.get());
  const SpawnAttributes attributes;
  std::vector<char*> environment = launcher_environment();
  std::string option = "--cgroup-fd", number = std::to_string(supervise::kLauncherCgroups);
  char* arguments[] = {program_.data(), cgroups ? option.data() : nullptr, number.data(), nullptr};
  pid_t pid = 0;
  int error = 0;
  {
    const LoweredOpenFiles lowered(open_files_);
    error = ::posix_spawn(&pid, program_.c_str(), actions.get(), attributes.get(), arguments,
                          environment.data());
  }
  if (error != 0) return os_failure("start '" + program_ + "'", error);
  pid_ = pid;
  started_ = std::chrono::steady_clock::now();
  socket_.assign(sockets.first.release());
  watch();
  return {};
}

Result<> LauncherClient::send(const supervise::Launch& launch, const supervise::LaunchFds& fds) {
  if (pid_ == 0) {
    return failure(Errc::kUnavailable, "guard-launcher is being restarted", "try again");
  }
  return supervise::send_launch(socket_.native_handle(), launch, fds);
}

void LauncherClient::stop() {
  stopped_ = true;
  pause_.cancel();
  // Before the socket is closed, and by nobody else reaped: still the launcher's number.
  const auto process = pid_ == 0 ? Result<os::UniqueFd>() : os::pidfd_open(pid_);
  pid_ = 0;
  boost::system::error_code ignored;
  socket_.close(ignored);
  if (!process || !*process) return;
  pollfd ended{.fd = process->get(), .events = POLLIN, .revents = 0};
  (void)::poll(&ended, 1, kEndPatienceMs);
}

// The launcher says nothing: what becomes readable is the end.
void LauncherClient::watch() {
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [this](const boost::system::error_code& error) {
                       if (error || stopped_) return;
                       char byte = 0;
                       const ssize_t size =
                           ::recv(socket_.native_handle(), &byte, sizeof byte, MSG_DONTWAIT);
                       if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR))) {
                         return watch();
                       }
                       lost();
                     });
}

void LauncherClient::lost() {
  spdlog::error("guard-launcher (pid {}) is gone; starting another", pid_);
  pid_ = 0;
  boost::system::error_code ignored;
  socket_.close(ignored);
  on_lost_();
  const auto restart = [this](const boost::system::error_code& error) {
    if (error || stopped_) return;
    if (auto spawned = spawn(); !spawned) {
      spdlog::error("{}", spawned.error().message());
      started_ = std::chrono::steady_clock::now();
      lost();
    }
  };
  if (std::chrono::steady_clock::now() - started_ > kHealthyAfter) {
    return restart(boost::system::error_code());
  }
  pause_.expires_after(kRestartPause);
  pause_.async_wait(restart);
}

}  // namespace guard::daemon
