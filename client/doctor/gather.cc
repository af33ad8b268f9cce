#include "client/doctor/gather.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "client/rpc/autostart.h"
#include "client/rpc/connection.h"
#include "common/os/peer.h"
#include "common/os/raw_syscall.h"
#include "common/os/runtime_dir.h"
#include "common/os/sys.h"
#include "common/sandbox/landlock/ruleset.h"
#include "common/sandbox/processes_of_user.h"
#include "common/sandbox/shared_memory.h"
#include "common/supervise/launcher_file.h"

namespace guard::doctor {
namespace {

constexpr std::size_t kSmallFile = 64 * 1024;
constexpr std::size_t kKallsymsMax = 64 << 20;
constexpr std::size_t kSocketsMax = 16 << 20;
constexpr std::size_t kLocksMax = 4 << 20;

std::string text_of(const std::string& path) {
  std::string text = os::read_file(path, kSmallFile).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

bool is_folder_of_ours(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

// The symbols' names are there for everybody; only their addresses are not (kptr_restrict). Read in
// pieces that overlap by the name's length.
std::optional<bool> built_into_kernel(std::string_view symbol) {
  const auto file = os::open("/proc/kallsyms", O_RDONLY);
  if (!file) return std::nullopt;
  std::string tail;
  std::vector<char> piece(1 << 18);
  std::size_t seen = 0;
  while (seen < kKallsymsMax) {
    const auto got = os::read_some(file->get(), piece.data(), piece.size());
    if (!got) return std::nullopt;
    if (*got == 0) break;
    seen += *got;
    tail.append(piece.data(), *got);
    if (tail.find(symbol) != std::string::npos) return true;
    tail.erase(0, tail.size() - std::min(tail.size(), symbol.size()));
  }
  if (seen == 0) return std::nullopt;
  return false;
}

bool has_user_notification() {
  const std::uint32_t action = SECCOMP_RET_USER_NOTIF;
  return os::raw_syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool has_peer_pidfd() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
  const os::UniqueFd here(pair[0]), there(pair[1]);
  const auto peer = os::peer_of(here.get());
  return peer && peer->pidfd_supported;
}

std::optional<int> ptrace_scope() {
  const std::string text = text_of("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scope);
  if (error != std::errc{}) return std::nullopt;
  return scope;
}

KernelFacts kernel_facts() {
  KernelFacts kernel;
  if (auto support = sandbox::probe()) {
    kernel.support = *std::move(support);
  } else {
    kernel.not_probed = std::move(support).error();
  }
  kernel.version = text_of("/proc/version");
  if (const int abi = landlock::abi_version(); abi < 0) {
    kernel.landlock_errno = -abi;
    kernel.landlock_built_in = built_into_kernel(" landlock_");
  }
  kernel.lsm = text_of("/sys/kernel/security/lsm");
  kernel.no_new_privs = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) >= 0;
  kernel.user_notification = has_user_notification();
  kernel.peer_pidfd = has_peer_pidfd();
  kernel.ptrace_scope = ptrace_scope();
  return kernel;
}

// The line "0::/PATH" of /proc/self/cgroup.
std::string own_cgroup(std::string_view lines) {
  const std::size_t at = lines.starts_with("0::") ? 0 : lines.find("\n0::");
  if (at == std::string_view::npos) return "";
  const std::size_t start = lines.find("0::", at) + 3;
  return std::string(lines.substr(start, lines.find('\n', start) - start));
}

void look_at_cgroups(SurroundingsFacts& here) {
  for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    if (!exists(std::string(root) + "/cgroup.controllers")) continue;
    here.cgroup_v2 = true;
    const std::string own = root + own_cgroup(here.cgroup);
    here.cgroup_delegated =
        ::access(own.c_str(), W_OK) == 0 && ::access((own + "/cgroup.procs").c_str(), W_OK) == 0;
    return;
  }
}

// A sandbox of ours refuses the family; a process without descriptors left is another matter.
bool has_unix_sockets() {
  const os::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd || (errno != EPERM && errno != EACCES && errno != EAFNOSUPPORT);
}

SurroundingsFacts surroundings_facts(const std::string& runtime) {
  SurroundingsFacts here;
  here.uid = ::geteuid();
  here.dockerenv = exists("/.dockerenv");
  here.containerenv = exists("/run/.containerenv");
  here.kubernetes = !variable("KUBERNETES_SERVICE_HOST").empty();
  here.container = variable("container");
  here.cgroup = text_of("/proc/self/cgroup");
  here.seccomp_mode = std::max(::prctl(PR_GET_SECCOMP, 0, 0, 0, 0), 0);
  here.confined = client::is_confined();
  here.unix_sockets = has_unix_sockets();
  look_at_cgroups(here);
  here.systemd_user = exists(runtime + "/systemd/private");
  return here;
}

FolderFacts folder_facts(const std::string& path) {
  FolderFacts folder;
  folder.path = path;
  const auto opened = os::open_existing_private_directory(path);
  struct statvfs system{};
  if (opened) {
    folder.no_exec = ::fstatvfs(opened->get(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0;
    return folder;
  }
  folder.missing = opened.error().os_errno == ENOENT;
  if (!folder.missing) {
    folder.wrong = opened.error();
  } else if (const auto can = os::may_be_made(path); !can) {
    folder.wrong = can.error();
  } else {
    folder.no_exec =
        ::statvfs(folder_of(path).c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0;
  }
  return folder;
}

InstallationFacts installation_facts() {
  InstallationFacts installed;
  const auto executable = os::read_link_at(AT_FDCWD, "/proc/self/exe");
  if (executable) installed.beside = folder_of(*executable);
  const auto guardd = client::find_guardd();
  if (!guardd) return installed;
  installed.guardd = *guardd;
  const std::string folder = folder_of(*guardd);
  for (const std::string& candidate : supervise::launcher_candidates(folder)) {
    if (::access(candidate.c_str(), X_OK) != 0) continue;
    installed.launcher = candidate;
    break;
  }
  installed.shim = sandbox::find_shared_memory_shim(folder);
  return installed;
}

std::optional<std::uint64_t> finite(rlim_t limit) {
  if (limit == RLIM_INFINITY) return std::nullopt;
  return limit;
}

bool has_line(const std::string& path, std::size_t max, const auto& matches) {
  const auto text = os::read_file(path, max);
  if (!text) return false;
  for (std::size_t start = 0; start < text->size();) {
    const std::size_t end = std::min(text->find('\n', start), text->size());
    if (matches(std::string_view(*text).substr(start, end - start))) return true;
    start = end + 1;
  }
  return false;
}

// "000…: 00000002 00000000 00010000 0001 01 INODE PATH": the fourth is __SO_ACCEPTCON.
bool is_listened_on(const std::string& socket) {
  return has_line("/proc/net/unix", kSocketsMax, [&](std::string_view line) {
    return line.ends_with(" " + socket) && line.find(" 00010000 ") != std::string_view::npos;
  });
}

// "1: FLOCK  ADVISORY  WRITE PID MAJOR:MINOR:INODE 0 EOF". A lock is looked at and not tried: a
// guardd that starts meanwhile must get it. The device is left out, as file systems with
// subvolumes tell stat(2) another; none: /proc does not tell.
std::optional<bool> is_locked(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0)
    return errno == ENOENT ? std::optional(false) : std::nullopt;
  if (!os::read_file("/proc/locks", kLocksMax)) return std::nullopt;
  const std::string inode = ":" + std::to_string(status.st_ino) + " ";
  return has_line("/proc/locks", kLocksMax, [&](std::string_view line) {
    return line.find("FLOCK") != std::string_view::npos &&
           line.find(inode) != std::string_view::npos;
  });
}

// guardd holds a lock beside its socket as long as it lives.
bool is_held_for_guardd(const std::string& socket) {
  return is_listened_on(socket) && is_locked(os::beside_socket(socket, ".lock")) == false;
}

GuarddFacts guardd_facts(const std::string& socket_flag) {
  GuarddFacts guardd;
  guardd.socket = os::choose_socket(socket_flag);
  guardd.xdg_runtime_dir = variable("XDG_RUNTIME_DIR");
  guardd.xdg_runtime_dir_ours = is_folder_of_ours(guardd.xdg_runtime_dir);
  if (guardd.socket) guardd.folder = folder_facts(folder_of(guardd.socket->path));
  if (guardd.socket && is_held_for_guardd(guardd.socket->path)) guardd.state = DaemonState::kHeld;
  guardd.scratch = folder_facts(os::scratch_folder());
  guardd.installed = installation_facts();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) == 0) guardd.processes.maximum = finite(limit.rlim_cur);
  if (guardd.processes.maximum) guardd.processes.used = sandbox::processes_of_user();
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) guardd.open_files.maximum = finite(limit.rlim_max);
  return guardd;
}

}  // namespace

Facts gather(const std::string& socket_flag) {
  Facts facts;
  facts.kernel = kernel_facts();
  facts.guardd = guardd_facts(socket_flag);
  const std::string& runtime = facts.guardd.xdg_runtime_dir;
  facts.surroundings =
      surroundings_facts(runtime.empty() ? "/run/user/" + std::to_string(::geteuid()) : runtime);
  return facts;
}

}  // namespace guard::doctor
