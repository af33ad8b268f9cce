#include "common/supervise/run_cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "common/os/sys.h"

namespace guard::supervise {
namespace {

constexpr std::string_view kPrefix = "run-";
constexpr std::size_t kLongestList = 1 << 20;

std::string name_for(pid_t monitor) { return std::string(kPrefix) + std::to_string(monitor); }

void kill_group(int home, const std::string& name) {
  const auto kill = os::open_at(home, name + "/cgroup.kill", O_WRONLY);
  if (kill) (void)os::write_all(kill->get(), "1\n");  // failing, the sweep is left
}

// Not with living processes in it.
bool remove_group(int home, const std::string& name) {
  return ::unlinkat(home, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
}

}  // namespace

RunCgroup RunCgroup::make(int home) {
  RunCgroup group;
  std::string name = name_for(::getpid());
  if (home < 0) return group;
  const auto made = [&] { return ::mkdirat(home, name.c_str(), 0755) == 0; };
  // An empty one of a monitor that had our pid is nobody's.
  if (!made() && !(errno == EEXIST && remove_group(home, name) && made())) return group;
  auto door = os::open_at(home, name + "/cgroup.procs", O_WRONLY);
  if (!door || ::faccessat(home, (name + "/cgroup.kill").c_str(), W_OK, 0) != 0) {
    (void)remove_group(home, name);
    return group;
  }
  group.home_ = home;
  group.name_ = std::move(name);
  group.door_ = *std::move(door);
  return group;
}

void RunCgroup::prove(pid_t leader) {
  if (name_.empty()) return;
  const auto file = os::open_at(home_, name_ + "/cgroup.procs", O_RDONLY);
  if (!file) return;
  const auto members = os::read_all(file->get(), kLongestList);
  proven_ =
      members && ("\n" + *members).find("\n" + std::to_string(leader) + "\n") != std::string::npos;
}

void RunCgroup::kill() const {
  if (!name_.empty()) kill_group(home_, name_);
}

void RunCgroup::remove() {
  door_.reset();
  if (!name_.empty()) (void)remove_group(home_, name_);  // stragglers: the launcher tries again
}

bool end_cgroup_of(int home, pid_t monitor) {
  if (home < 0) return true;
  const std::string name = name_for(monitor);
  kill_group(home, name);
  return remove_group(home, name);
}

void end_stale_cgroups(int home) {
  const auto copy = os::open_at(home, ".", O_RDONLY | O_DIRECTORY);
  if (!copy) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> groups(::fdopendir(::dup(copy->get())), ::closedir);
  if (!groups) return;
  std::vector<std::string> stale;
  while (const dirent* entry = ::readdir(groups.get()))
    if (std::string_view(entry->d_name).starts_with(kPrefix)) stale.emplace_back(entry->d_name);
  for (const auto& name : stale) kill_group(home, name);
  // SIGKILL takes a moment. What lives on is left to the next start.
  constexpr int kTries = 100;
  constexpr useconds_t kPauseUs = 5000;
  for (int attempt = 0; attempt < kTries && !stale.empty(); ++attempt) {
    if (attempt > 0) ::usleep(kPauseUs);
    std::erase_if(stale, [home](const auto& name) { return remove_group(home, name); });
  }
}

}  // namespace guard::supervise
