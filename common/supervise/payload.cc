#include "common/supervise/payload.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "common/os/raw_syscall.h"
#include "common/os/sys.h"
#include "common/sandbox/landlock/ruleset.h"
#include "common/supervise/group_gate.h"

namespace guard::supervise {
namespace {

using os::raw_syscall;
using sandbox::Stage;

// Where things lie in the child until execve; 0 to 2 and kResultFd stay.
constexpr int kResultFd = 3;
constexpr int kRecordsFd = 4;
constexpr int kRulesetFd = 5;
constexpr int kCanaryFd = 6;
constexpr int kCgroupFd = 7;
constexpr int kFirstUnused = 8;
constexpr int kFirstSource = 16;

constexpr int kLastSignal = 64;
// ETXTBSY: somebody still has the file open for writing, mostly a fork of the program that wrote
// it, on its way to exec.
constexpr int kBusyTries = 20;
constexpr timespec kBusyPause{.tv_sec = 0, .tv_nsec = 2'000'000};

std::vector<const char*> pointers(const std::vector<std::string>& texts, bool null_at_end) {
  std::vector<const char*> all;
  all.reserve(texts.size() + 1);
  for (const auto& text : texts) all.push_back(text.c_str());
  if (null_at_end) all.push_back(nullptr);
  return all;
}

void send(const PayloadRecord& record) noexcept {
  raw_syscall(SYS_write, kRecordsFd, &record, sizeof record);
}

// `fd` travels with it.
long send_with(const PayloadRecord& record, int fd) noexcept {
  iovec content{.iov_base = const_cast<PayloadRecord*>(&record), .iov_len = sizeof record};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof fd);
  __builtin_memcpy(CMSG_DATA(part), &fd, sizeof fd);
  return raw_syscall(SYS_sendmsg, kRecordsFd, &message, MSG_NOSIGNAL);
}

// execvp(3) goes on to the next directory of PATH for these.
bool next_may_serve(long error) noexcept {
  return error == EACCES || error == ENOENT || error == ENOTDIR || error == ENODEV ||
         error == ESTALE || error == ETIMEDOUT;
}

}  // namespace

Result<Payload> Payload::prepare(const Launch& launch, LaunchFds fds, os::UniqueFd records,
                                 const Custody& custody) {
  Payload payload;
  payload.launch_ = &launch;
  payload.argv_ = pointers(launch.argv, true);
  payload.env_ = pointers(launch.env, true);
  payload.candidates_ = pointers(launch.candidates, false);
  payload.oom_score_ = std::to_string(launch.oom_score_adj);

  const auto lift = [](int fd, os::UniqueFd& into) -> Result<> {
    if (fd < 0) return {};
    GUARD_ASSIGN(into, os::duplicate(fd, kFirstSource));
    return {};
  };
  const auto at = [&fds](LaunchFd which) { return fds[static_cast<std::size_t>(which)].get(); };
  GUARD_TRY(lift(at(LaunchFd::kStdin), payload.stdin_));
  GUARD_TRY(lift(at(LaunchFd::kStdout), payload.stdout_));
  GUARD_TRY(lift(at(LaunchFd::kStderr), payload.stderr_));
  GUARD_TRY(lift(at(LaunchFd::kResult), payload.result_));
  GUARD_TRY(lift(at(LaunchFd::kCwd), payload.cwd_));
  GUARD_TRY(lift(records.get(), payload.records_));
  GUARD_TRY(
      lift(launch.confine ? at(LaunchFd::kRuleset) : custody.scope_ruleset, payload.ruleset_));
  GUARD_TRY(lift(custody.cgroup_door, payload.cgroup_));
  if (custody.gated) {
    GUARD_ASSIGN(payload.gate_, group_gate_filter(seccomp::kHostArch));
  }
  if (launch.confine) GUARD_TRY(lift(at(LaunchFd::kCanaryDir), payload.canary_));

  payload.orders_ = {.confine = launch.confine,
                     .drop_capabilities = launch.drop_capabilities,
                     .ruleset_fd = payload.ruleset_ ? kRulesetFd : -1,
                     .filter = launch.filter.data(),
                     .filter_length = static_cast<std::uint16_t>(launch.filter.size()),
                     .limits = launch.limits.data(),
                     .limit_count = launch.limits.size(),
                     .canary_dir_fd = payload.canary_ ? kCanaryFd : -1,
                     .canary_name = launch.canary_name.c_str()};
  return payload;
}

void Payload::run() const noexcept {
  arrange_descriptors();
  leave_the_monitor();
  if (cgroup_) enter_cgroup();
  if (!gate_.empty()) close_gate();
  put_sandbox_on();
  execute();
}

void Payload::arrange_descriptors() const noexcept {
  struct Move {
    int from, to, flags;
  };
  const Move moves[] = {{records_.get(), kRecordsFd, O_CLOEXEC},  // first: it carries the errors
                        {stdin_.get(), 0, 0},
                        {stdout_.get(), 1, 0},
                        {stderr_.get(), 2, 0},
                        {result_.get(), kResultFd, 0},
                        {ruleset_.get(), kRulesetFd, O_CLOEXEC},
                        {canary_.get(), kCanaryFd, O_CLOEXEC},
                        {cgroup_.get(), kCgroupFd, O_CLOEXEC}};
  for (const auto& [from, to, flags] : moves) {
    if (from < 0) {
      raw_syscall(SYS_close, to);
    } else if (const long moved = raw_syscall(SYS_dup3, from, to, flags); moved < 0) {
      fail(Stage::kSetup, -moved);
    }
  }
  if (const long entered = raw_syscall(SYS_fchdir, cwd_.get()); entered < 0)
    fail(Stage::kSetup, -entered);
  // Gone before the sandbox is on, rather than closed by execve.
  if (const long closed = raw_syscall(SYS_close_range, kFirstUnused, ~0U, 0); closed < 0)
    fail(Stage::kSetup, -closed);
}

// What a child inherits that is not a descriptor: session, priority at an out-of-memory kill,
// umask, ignored signals, blocked signals.
void Payload::leave_the_monitor() const noexcept {
  if (const long session = raw_syscall(SYS_setsid); session < 0) fail(Stage::kSetup, -session);
  // Raising it needs no right. Where it cannot be done (no /proc), the run is as safe without.
  const long score =
      raw_syscall(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC, 0);
  if (score >= 0) {
    raw_syscall(SYS_write, score, oom_score_.data(), oom_score_.size());
    raw_syscall(SYS_close, score);
  }
  raw_syscall(SYS_umask, launch_->umask);
  // The kernel's struct sigaction, all zero: SIG_DFL. By number, as libc hides two of them.
  constexpr std::size_t kKernelSigsetBytes = 8;
  const std::uint64_t by_default[8] = {};
  for (int signal = 1; signal <= kLastSignal; ++signal)
    raw_syscall(SYS_rt_sigaction, signal, by_default, nullptr, kKernelSigsetBytes);
  const std::uint64_t none = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kKernelSigsetBytes);
}

// Where it cannot be entered, the run goes on without.
void Payload::enter_cgroup() const noexcept {
  constexpr char kMyself[] = "0";
  if (raw_syscall(SYS_write, kCgroupFd, kMyself, 1) == 1) send({.kind = RecordKind::kInCgroup});
  raw_syscall(SYS_close, kCgroupFd);
}

// Before the sandbox, whose filter refuses listeners. Where the kernel, or a filter that we are
// under ourselves, gives none, the run goes on without: the monitor reports what it has seen.
void Payload::close_gate() const noexcept {
  const sock_fprog filter{static_cast<std::uint16_t>(gate_.size()),
                          const_cast<sock_filter*>(gate_.data())};
  const long listener = load_group_gate(filter);
  if (listener <= STDERR_FILENO) return;  // those are taken: no filter was loaded
  if (const long sent = send_with({.kind = RecordKind::kGate}, static_cast<int>(listener));
      sent < 0)
    fail(Stage::kSeccomp, -sent);
  // Only the monitor may hold it: what one holds open, one could answer.
  raw_syscall(SYS_close, listener);
  // The first call that is asked for; EPERM is what it says to the leader of a session. ENOSYS: the
  // listener has not arrived, and no program could work like that.
  if (const long asked = raw_syscall(SYS_setpgid, 0, 0); asked != -EPERM)
    fail(Stage::kSeccomp, asked < 0 ? -asked : EINVAL);
}

void Payload::put_sandbox_on() const noexcept {
  if (!launch_->confine && ruleset_) {
    if (const int error = landlock::restrict_self(kRulesetFd); error < 0)
      fail(Stage::kLandlock, -error);
  }
  const sandbox::Outcome outcome = sandbox::enforce(orders_);
  if (outcome.stage != Stage::kNone) fail(outcome.stage, outcome.error, 0, outcome.axis);
}

void Payload::execute() const noexcept {
  long error = ENOENT;
  std::uint32_t at = 0;
  bool refused = false;  // EACCES outranks what came after it, as in execvp(3)
  const auto count = static_cast<std::uint32_t>(candidates_.size());
  for (std::uint32_t index = 0; index < count; ++index) {
    send({.kind = RecordKind::kTrying, .index = index});
    long answer = 0;
    for (int attempt = 0; attempt < kBusyTries; ++attempt) {
      if (attempt > 0) raw_syscall(SYS_nanosleep, &kBusyPause, nullptr);
      answer = -raw_syscall(SYS_execve, candidates_[index], argv_.data(), env_.data());
      if (answer != ETXTBSY) break;
    }
    if (!refused) {
      error = answer;
      at = index;
    }
    if (!next_may_serve(answer)) fail(Stage::kExec, answer, index);
    refused = refused || answer == EACCES;
    if (index + 1 < count && answer != ENOENT && answer != ENOTDIR) {
      send({.kind = RecordKind::kPassedOver,
            .error = static_cast<std::int32_t>(answer),
            .index = index});
    }
  }
  fail(Stage::kExec, error, at);
}

void Payload::fail(Stage stage, long error, std::uint32_t index,
                   std::uint32_t axis) const noexcept {
  send({.kind = RecordKind::kFailed,
        .stage = static_cast<std::uint32_t>(stage),
        .error = static_cast<std::int32_t>(error),
        .index = index,
        .axis = axis});
  for (;;) raw_syscall(SYS_exit_group, 127);
}

}  // namespace guard::supervise
