#include "common/os/proc_stat.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <string>

#include "common/os/sys.h"

namespace guard::os {
namespace {

constexpr std::size_t kLongestStat = 4096;

// The next field, as a number; false at the end or when it is none.
template <class Number>
bool take(std::string_view& text, Number& value) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool skip(std::string_view& text, int fields) {
  long long ignored = 0;
  while (fields-- > 0)
    if (!take(text, ignored)) return false;
  return true;
}

Result<ProcStat> stat_at(int proc, const std::string& pid) {
  GUARD_ASSIGN(const UniqueFd fd, open_at(proc, pid + "/stat", O_RDONLY));
  char text[kLongestStat];
  auto length = read_some(fd.get(), text, sizeof text);
  if (!length) return failure(Errc::kNotFound, "process " + pid + " ended meanwhile");
  return parse_proc_stat({text, *length});
}

}  // namespace

Result<ProcStat> parse_proc_stat(std::string_view text) {
  ProcStat stat;
  const std::size_t name_end = text.rfind(')');  // the name is the only field that may hold one
  std::string_view head = text;
  if (name_end == std::string_view::npos || !take(head, stat.pid) || !head.starts_with(" ("))
    return failure(Errc::kInvalid, "no line of /proc/PID/stat");
  std::string_view rest = text.substr(name_end + 1);
  if (rest.size() < 3 || rest[0] != ' ') return failure(Errc::kInvalid, "a short /proc/PID/stat");
  stat.state = rest[1];
  stat.name = head.substr(2, name_end - static_cast<std::size_t>(head.data() - text.data()) - 2);
  rest.remove_prefix(2);
  constexpr int kFromSessionToStart = 15;  // fields 7 to 21
  if (!take(rest, stat.parent) || !take(rest, stat.group) || !take(rest, stat.session) ||
      !skip(rest, kFromSessionToStart) || !take(rest, stat.start_time))
    return failure(Errc::kInvalid, "a short /proc/PID/stat");
  return stat;
}

Result<ProcStat> proc_stat(pid_t pid) { return stat_at(AT_FDCWD, "/proc/" + std::to_string(pid)); }

Result<PinnedStat> PinnedStat::open(pid_t pid) {
  GUARD_ASSIGN(UniqueFd fd, os::open("/proc/" + std::to_string(pid) + "/stat", O_RDONLY));
  return PinnedStat(std::move(fd));
}

// From offset 0 the kernel writes the line anew each time.
Result<ProcStat> PinnedStat::read() const {
  char text[kLongestStat];
  const ssize_t length = ::pread(fd_.get(), text, sizeof text, 0);
  if (length < 0 && errno == ESRCH) return failure(Errc::kNotFound, "the process has ended");
  if (length < 0) return os_failure("read /proc/PID/stat");
  return parse_proc_stat({text, static_cast<std::size_t>(length)});
}

Result<std::vector<ProcStat>> all_processes() {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return os_failure("open '/proc'");
  std::vector<ProcStat> processes;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(proc.get());
    if (entry == nullptr) {
      if (errno != 0) return os_failure("read '/proc'");
      return processes;
    }
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (auto stat = stat_at(::dirfd(proc.get()), entry->d_name)) processes.push_back(*stat);
  }
}

}  // namespace guard::os
