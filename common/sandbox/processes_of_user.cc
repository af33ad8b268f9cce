#include "common/sandbox/processes_of_user.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>

namespace guard::sandbox {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

bool is_number(const char* name) { return *name >= '1' && *name <= '9'; }

// A directory's link count is two and one for each thread in /proc/PID/task.
std::uint64_t threads_of(int proc, const char* pid) {
  struct stat status{};
  const std::string task = std::string(pid) + "/task";
  if (::fstatat(proc, task.c_str(), &status, 0) != 0 || status.st_nlink < 3) return 0;
  return status.st_nlink - 2;
}

}  // namespace

std::uint64_t processes_of_user() {
  const Directory proc(::opendir("/proc"));
  if (!proc) return 0;
  const int fd = ::dirfd(proc.get());
  const uid_t user = ::getuid();
  std::uint64_t tasks = 0;
  while (const dirent* entry = ::readdir(proc.get())) {
    struct stat status{};
    if (!is_number(entry->d_name)) continue;
    if (::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    // Owner of /proc/PID is the effective uid, which is the real one but for setuid programs.
    if (status.st_uid == user) tasks += threads_of(fd, entry->d_name);
  }
  return tasks;
}

}  // namespace guard::sandbox
