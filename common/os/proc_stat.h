// The fields of proc_pid_stat(5) that tell who a process is and whose child.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::os {

struct ProcStat {
  pid_t pid = 0;
  std::string name = {};  // of the thread, at most 15 bytes; a process gives itself any
  char state = '?';       // 'Z': dead, not reaped
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::uint64_t start_time = 0;  // clock ticks since boot: with pid, names a process for good
  friend bool operator==(const ProcStat&, const ProcStat&) = default;
};

// kInvalid when `text` is no such line. The second field may hold anything, ')' and spaces too.
Result<ProcStat> parse_proc_stat(std::string_view text);

// kNotFound when there is no such process.
Result<ProcStat> proc_stat(pid_t pid);

// A process that stays the same process: an open file of /proc/PID means that very one and never
// another that gets its number later.
class PinnedStat {
 public:
  // kNotFound when there is none, or /proc does not show it to us (mount option hidepid).
  static Result<PinnedStat> open(pid_t pid);
  // As it is now; kNotFound once it has been reaped.
  Result<ProcStat> read() const;

 private:
  explicit PinnedStat(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// Every process that /proc shows, in no order; those that end meanwhile are left out.
Result<std::vector<ProcStat>> all_processes();

}  // namespace guard::os
