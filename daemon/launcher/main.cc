// guard-launcher: started by guardd, with one end of a SOCK_SEQPACKET pair as descriptor 3.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "common/base/version.h"
#include "common/os/descriptors.h"
#include "common/os/sys.h"
#include "common/sandbox/kernel_support.h"
#include "common/sandbox/landlock/ruleset.h"
#include "daemon/launcher/launcher.h"

namespace guard::launcher {
namespace {

constexpr int kExitUsage = 2;
constexpr int kScopeAbi = 6;
constexpr mode_t kPrivateUmask = 077;
constexpr int kLastSignal = 64;
constexpr int kLowestPassed = 3;

constexpr std::string_view kUsage =
    "usage: guard-launcher [--control-fd N] [--cgroup-fd N]\n"
    "Started by guardd. It forks the monitors that start and supervise confined programs.\n";

// Nothing of how we were started may show in a run or in how we work: signals by default and
// unblocked, no environment, a private umask, no terminal's session, descriptors 0 to 3 only.
Result<os::UniqueFd> start_clean(int control, int cgroups) {
  for (int signal = 1; signal <= kLastSignal; ++signal) (void)::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::clearenv();
  ::umask(kPrivateUmask);
  (void)::setsid();  // fails when guardd has done it for us
  GUARD_TRY(os::close_all_but({2, control, cgroups}));
  GUARD_ASSIGN(os::UniqueFd nothing, os::open("/dev/null", O_RDWR));  // lands on 0
  if (nothing.get() != 0 || ::dup2(0, 1) != 1) return failure(Errc::kInternal, "descriptors 0, 1");
  (void)nothing.release();
  if (::fcntl(2, F_GETFD) < 0 && ::dup2(0, 2) != 2) return os_failure("dup2");
  for (const int fd : {control, cgroups}) {
    if (fd >= 0 && ::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return os_failure("a descriptor of ours");
  }
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return os_failure("prctl");
  return os::UniqueFd(control);
}

std::optional<int> descriptor(std::string_view number) {
  int fd = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), fd);
  if (error != std::errc() || end != number.data() + number.size() || fd < kLowestPassed)
    return std::nullopt;
  return fd;
}

Result<> launch(int control_fd, int cgroup_fd) {
  GUARD_ASSIGN(const sandbox::KernelSupport kernel, sandbox::probe());  // reads the environment
  GUARD_ASSIGN(os::UniqueFd control, start_clean(control_fd, cgroup_fd));
  os::UniqueFd cgroups(cgroup_fd);
  os::UniqueFd scope;
  if (kernel.landlock_abi >= kScopeAbi) {
    GUARD_ASSIGN(scope, landlock::signal_scope_ruleset());
  }
  GUARD_ASSIGN(auto launcher,
               Launcher::create(std::move(control), std::move(scope), std::move(cgroups)));
  return launcher.serve();
}

}  // namespace
}  // namespace guard::launcher

int main(int argc, char** argv) {
  int control_fd = 3;
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (option == "--version" && argc == 2) {
    std::printf("guard-launcher %s\n", std::string(guard::kVersion).c_str());
    return 0;
  }
  int cgroup_fd = -1;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const bool known = name == "--control-fd" || name == "--cgroup-fd";
    const std::optional<int> fd =
        known && i + 1 < argc ? guard::launcher::descriptor(argv[i + 1]) : std::nullopt;
    if (!fd) {
      std::fputs(guard::launcher::kUsage.data(), stderr);
      return guard::launcher::kExitUsage;
    }
    (name == "--control-fd" ? control_fd : cgroup_fd) = *fd;
  }
  const auto served = guard::launcher::launch(control_fd, cgroup_fd);
  if (served) return 0;
  std::fprintf(stderr, "guard-launcher: %s\n", served.error().message().c_str());
  return 1;
}
