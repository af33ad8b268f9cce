#include "common/os/scratch_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <memory>
#include <utility>

#include "common/base/visible.h"
#include "common/os/proc_stat.h"
#include "common/os/remove_tree.h"
#include "common/os/runtime_dir.h"
#include "common/os/sys.h"

namespace guard::os {
namespace {

constexpr std::string_view kRunPrefix = "run-";
constexpr std::string_view kCanaryText = "canary\n";

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// The entries of a folder, without "." and ".."; none when it cannot be listed.
std::vector<std::string> names_in(int parent, const std::string& folder, std::size_t max) {
  std::vector<std::string> names;
  const int fd = ::openat(parent, folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return names;
  const Directory directory(::fdopendir(fd));
  if (!directory) {
    ::close(fd);
    return names;
  }
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == max) break;
    names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

bool is_id(const std::string& id) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !id.empty() && id.find_first_not_of(kAllowed) == std::string::npos;
}

// 0700 whatever the umask takes away; the folder is ours, just made.
Result<> make_folder(int parent, const std::string& name) {
  if (::mkdirat(parent, name.c_str(), 0700) != 0) {
    const int error = errno;
    if (error == EEXIST) return failure(Errc::kExists, "'" + visible(name) + "' exists already");
    return os_failure("mkdir '" + visible(name) + "'", error);
  }
  if (::fchmodat(parent, name.c_str(), 0700, 0) != 0) return os_failure("chmod '" + name + "'");
  return {};
}

// Inside another sandbox /proc may be out of reach; the outer one removes the whole folder then.
Result<> write_owner(int folder, pid_t owner) {
  const auto process = proc_stat(owner);
  if (!process && process.error().code != Errc::kDenied) return std::unexpected(process.error());
  const std::uint64_t start_time = process ? process->start_time : 0;
  GUARD_ASSIGN(const UniqueFd file,
               open_at(folder, "owner", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  return write_all(file.get(), std::to_string(owner) + " " + std::to_string(start_time) + "\n");
}

struct Owner {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
};

// {0, 0} when the text is not "PID START\n".
Owner parse_owner(std::string_view text) {
  Owner owner;
  const char* const end = text.data() + text.size();
  const auto pid = std::from_chars(text.data(), end, owner.pid);
  if (pid.ec != std::errc{} || pid.ptr == end || *pid.ptr != ' ') return {};
  const auto start = std::from_chars(pid.ptr + 1, end, owner.start_time);
  return start.ec == std::errc{} ? owner : Owner{};
}

bool is_gone(const Owner& owner) {
  if (owner.pid <= 0) return true;
  const auto process = proc_stat(owner.pid);
  if (!process) return process.error().code == Errc::kNotFound;
  return process->start_time != owner.start_time || process->state == 'Z';
}

// Older than `min_age_seconds` by the owner file, and its owner is gone. A folder without an owner
// was left half made.
bool is_stale(int root, const std::string& name, long min_age_seconds) {
  struct stat status{};
  const std::string path = name + "/owner";
  const UniqueFd file(::openat(root, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const int found = file ? ::fstat(file.get(), &status)
                         : ::fstatat(root, name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
  if (found != 0 || std::time(nullptr) - status.st_mtime < min_age_seconds) return false;
  if (!file) return true;
  const auto text = read_all(file.get(), 64);
  return text && is_gone(parse_owner(*text));
}

}  // namespace

Result<ScratchRoot> ScratchRoot::open(const std::string& base) {
  const std::string path =
      (base.empty() ? "/var/tmp" : base) + "/guardd-" + std::to_string(::geteuid());
  auto fd = open_private_directory(path);
  if (!fd) {
    Error error = std::move(fd).error();
    // The advice of runtime_dir.h is about the socket's folder; this one is where it is.
    if (error.hint.contains("--socket")) error.hint = "it has to be yours alone: have it removed";
    return std::unexpected(std::move(error).within("scratch folder"));
  }
  return ScratchRoot(path, *std::move(fd));
}

Result<> ScratchRoot::ensure_canary() const {
  const auto opened = [this] {
    return open_at(fd(), kCanaryName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  };
  auto canary = opened();
  if (!canary && canary.error().os_errno == ENOENT) {
    auto made = open_at(fd(), kCanaryName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    // Somebody else of us may have made it in between.
    if (made) GUARD_TRY(write_all(made->get(), kCanaryText));
    canary = opened();
  }
  if (!canary) return std::unexpected(std::move(canary).error().within(visible(path_)));
  struct stat status{};
  if (::fstat(canary->get(), &status) != 0) return os_failure("fstat");
  if (S_ISREG(status.st_mode)) return {};
  return failure(Errc::kDenied, "'" + visible(path_) + "/canary' is no regular file", "remove it");
}

Result<ScratchRoot::RunFolders> ScratchRoot::make_run(const std::string& id, pid_t owner) const {
  if (!is_id(id)) return failure(Errc::kInvalid, "'" + visible(id) + "' is no id of a run");
  const std::string name = std::string(kRunPrefix) + id;
  GUARD_TRY(make_folder(fd(), name));
  GUARD_ASSIGN(const UniqueFd folder, open_at(fd(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  GUARD_TRY(write_owner(folder.get(), owner));
  GUARD_TRY(make_folder(folder.get(), "home"));
  GUARD_TRY(make_folder(folder.get(), "tmp"));
  const std::string path = path_ + "/" + name;
  return RunFolders{name, path + "/home", path + "/tmp"};
}

Result<std::vector<std::string>> ScratchRoot::remove_run(const std::string& name,
                                                         std::size_t list_max) const {
  if (!name.starts_with(kRunPrefix) || !is_id(name)) {
    return failure(Errc::kInvalid, "'" + visible(name) + "' is no folder of a run");
  }
  std::vector<std::string> held;
  for (const char* part : {"home", "tmp"}) {
    for (const std::string& entry : names_in(fd(), name + "/" + part, list_max - held.size())) {
      held.push_back(std::string(part) + "/" + entry);
    }
  }
  GUARD_TRY(remove_tree(fd(), name));
  return held;
}

void ScratchRoot::remove_stale(long min_age_seconds, std::size_t max) const {
  // Bounded too when there is nothing to remove: a start must not wait for thousands of folders.
  const std::size_t look_at = 32 * max;
  std::size_t removed = 0;
  for (const std::string& name : names_in(fd(), ".", look_at)) {
    if (removed == max) return;
    if (!name.starts_with(kRunPrefix) || !is_stale(fd(), name, min_age_seconds)) continue;
    // Tidying: what cannot be removed stays for the next start.
    (void)remove_tree(fd(), name);
    ++removed;
  }
}

}  // namespace guard::os
