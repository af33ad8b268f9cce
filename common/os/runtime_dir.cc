#include "common/os/runtime_dir.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "common/base/shell_quote.h"
#include "common/base/visible.h"

namespace guard::os {
namespace {

constexpr std::size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;

// An unset and an empty variable mean the same (XDG Base Directory Specification), and a relative
// one is to be ignored.
std::string absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string quoted(std::string_view path) { return "'" + visible(path) + "'"; }

std::string octal(mode_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3) {
    digits += static_cast<char>('0' + ((mode >> shift) & 7));
  }
  return digits;
}

bool is_ours(const std::string& directory) {
  struct stat status{};
  return ::lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

Result<std::string> checked(std::string path, const std::string& source) {
  const auto wrong = [&](const std::string& why, std::string hint) {
    return failure(Errc::kInvalid, source + " " + why, std::move(hint));
  };
  if (path.empty()) return wrong("is empty", "give an absolute path");
  if (path[0] != '/') return wrong(quoted(path) + " is not absolute", "give an absolute path");
  if (path.find('\0') != std::string::npos) return wrong("has a NUL byte", "");
  if (path.back() == '/') {
    return wrong(quoted(path) + " names a folder", shell_quote(path + "guardd.sock"));
  }
  if (path.size() > kMaxSocketPath) {
    return wrong(quoted(path) + " is " + std::to_string(path.size()) +
                     " bytes; a socket's path is at most " + std::to_string(kMaxSocketPath),
                 "set XDG_RUNTIME_DIR or --socket to something shorter");
  }
  return path;
}

// The home of our uid in /etc/passwd, read without NSS, which a static binary does not have; ""
// when it is not there (users of a directory service).
std::string home_in_passwd() {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/etc/passwd", "re"), std::fclose);
  if (!file) return "";
  while (const passwd* entry = ::fgetpwent(file.get())) {
    if (entry->pw_uid != ::geteuid()) continue;
    return entry->pw_dir != nullptr && entry->pw_dir[0] == '/' ? entry->pw_dir : "";
  }
  return "";
}

// $HOME is often set to a folder inside a workspace, where a run could plant a configuration.
std::string home() {
  std::string known = home_in_passwd();
  return without_trailing_slash(known.empty() ? absolute_variable("HOME") : std::move(known));
}

std::string home_folder(const char* variable, const char* below_home) {
  if (std::string folder = absolute_variable(variable); !folder.empty()) {
    return without_trailing_slash(std::move(folder)) + "/guardd";
  }
  const std::string folder = home();
  return folder.empty() ? "" : folder + below_home;
}

std::unexpected<Error> not_private(const std::string& directory, std::string_view why,
                                   std::string hint) {
  return failure(Errc::kDenied, quoted(directory) + " " + std::string(why), std::move(hint));
}

Result<UniqueFd> open_path(const std::string& directory) {
  UniqueFd fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) return fd;
  if (errno == ELOOP || errno == ENOTDIR) {
    return not_private(directory, "is not a directory (a symbolic link is not followed)",
                       "remove it, or name another with --socket");
  }
  return os_failure("open " + quoted(directory));
}

// mkdir(2) obeys the umask, which can only take bits from 0700; EEXIST is another of us.
Result<> make_private(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return os_failure("mkdir " + quoted(directory));
}

// The parent is made only when it is a guardd folder of ours to make: …/guardd/x below a runtime
// folder that exists.
bool is_missing_parent_of_ours(const std::string& directory) {
  const std::string parent = parent_of(directory);
  const std::string runtime = without_trailing_slash(absolute_variable("XDG_RUNTIME_DIR"));
  return !runtime.empty() && parent_of(parent) == runtime && ::access(parent.c_str(), F_OK) != 0 &&
         errno == ENOENT;
}

}  // namespace

std::string scratch_folder() { return "/var/tmp/guardd-" + std::to_string(::geteuid()); }

Result<SocketChoice> choose_socket(const std::string& flag) {
  const auto choice = [](SocketSource source, Result<std::string> path) -> Result<SocketChoice> {
    if (!path) return std::unexpected(std::move(path).error());
    return SocketChoice{*std::move(path), source};
  };
  if (!flag.empty()) return choice(SocketSource::kFlag, checked(flag, "--socket"));
  if (const char* variable = std::getenv("GUARDD_SOCKET"); variable != nullptr) {
    return choice(SocketSource::kVariable, checked(variable, "GUARDD_SOCKET"));
  }
  if (const std::string runtime = absolute_variable("XDG_RUNTIME_DIR"); !runtime.empty()) {
    return choice(
        SocketSource::kXdgRuntimeDir,
        checked(without_trailing_slash(runtime) + "/guardd/guardd.sock", "the socket's path"));
  }
  if (const std::string runtime = "/run/user/" + std::to_string(::geteuid()); is_ours(runtime)) {
    return SocketChoice{runtime + "/guardd/guardd.sock", SocketSource::kRunUser};
  }
  return SocketChoice{scratch_folder() + "/guardd.sock", SocketSource::kScratch};
}

Result<std::string> socket_path(const std::string& flag) {
  GUARD_ASSIGN(SocketChoice choice, choose_socket(flag));
  return std::move(choice.path);
}

std::string beside_socket(std::string socket, std::string_view ending) {
  constexpr std::string_view kSocket = ".sock";
  const std::size_t name = socket.rfind('/') + 1;  // 0 without a slash
  if (socket.size() > name + kSocket.size() && socket.ends_with(kSocket)) {
    socket.resize(socket.size() - kSocket.size());
  }
  socket += ending;
  return socket;
}

std::string cookie_path(const std::string& socket) { return beside_socket(socket, ".cookie"); }

std::vector<std::string> protected_folders(const std::string& socket) {
  std::vector<std::string> folders{parent_of(socket)};
  for (std::string folder :
       {home_folder("XDG_CONFIG_HOME", "/.config/guardd"),
        home_folder("XDG_STATE_HOME", "/.local/state/guardd"), scratch_folder()}) {
    if (!folder.empty() && folder != folders[0]) folders.push_back(std::move(folder));
  }
  return folders;
}

Result<UniqueFd> open_existing_private_directory(const std::string& directory) {
  auto opened = open_path(directory);
  if (!opened) return opened;
  struct stat status{};
  if (::fstat(opened->get(), &status) != 0) {
    return os_failure("stat " + quoted(directory));
  }
  if (status.st_uid != ::geteuid()) {
    return not_private(directory, "belongs to uid " + std::to_string(status.st_uid) + ", not to us",
                       "name another with --socket");
  }
  if ((status.st_mode & 077) != 0) {
    return not_private(directory, "is open to others (mode " + octal(status.st_mode) + ")",
                       "chmod 700 " + shell_quote(directory));
  }
  return opened;
}

Result<UniqueFd> open_private_directory(const std::string& directory) {
  auto opened = open_existing_private_directory(directory);
  if (opened || opened.error().os_errno != ENOENT) return opened;
  if (is_missing_parent_of_ours(directory)) GUARD_TRY(make_private(parent_of(directory)));
  GUARD_TRY(make_private(directory));
  return open_existing_private_directory(directory);
}

Result<> may_be_made(const std::string& directory) {
  std::string in = parent_of(directory);
  if (is_missing_parent_of_ours(directory)) in = parent_of(in);
  if (::access(in.c_str(), W_OK | X_OK) == 0) return {};
  return os_failure("make a folder in " + quoted(in));
}

}  // namespace guard::os
