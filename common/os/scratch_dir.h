// The private HOME and TMPDIR of one run: a folder of our own on disk, 0700, removed afterwards.
//
//   /var/tmp/guardd-UID/              0700, ours, checked through an O_PATH descriptor
//   /var/tmp/guardd-UID/canary        a file that no grant can cover; the witness tries to open it
//   /var/tmp/guardd-UID/run-ID/home   HOME of a run
//   /var/tmp/guardd-UID/run-ID/tmp    TMPDIR of a run
//   /var/tmp/guardd-UID/run-ID/owner  "PID START_TIME\n" of the process that will be gone when the
//                                     folder may go (clock ticks since boot, field 22 of
//                                     proc_pid_stat(5))
//
// Everything is descriptor-relative and follows no symlink: a run may fill its folder with
// anything, a symlink to $HOME too.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::os {

// The folder of this uid, opened O_PATH; made when missing. kDenied when it is somebody else's or
// open to others. `base` is for tests; empty: /var/tmp.
class ScratchRoot {
 public:
  static Result<ScratchRoot> open(const std::string& base = {});

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

  // Makes `canary` (0600, 7 bytes) when it is missing and proves that it can be opened now. The
  // witness opens it relative to fd().
  Result<> ensure_canary() const;
  static constexpr const char* kCanaryName = "canary";

  // Makes run-ID/{home,tmp,owner}. `id` is [A-Za-z0-9._-]+. kExists when it is there.
  struct RunFolders {
    std::string name;       // "run-ID"
    std::string home, tmp;  // absolute
  };
  Result<RunFolders> make_run(const std::string& id, pid_t owner) const;

  // Removes run-ID and all below it, whatever it holds (folders without permission bits included);
  // what it held at the top of home and tmp, at most `list_max` names, is returned ("home/.npm").
  // Bounded by the tree's own size; never leaves the folder.
  Result<std::vector<std::string>> remove_run(const std::string& name,
                                              std::size_t list_max = 20) const;

  // Removes run folders older than `min_age_seconds` whose owner is gone (pid not running, or
  // started at another time). At most `max` of them. Errors are skipped: this is tidying.
  void remove_stale(long min_age_seconds, std::size_t max = 64) const;

 private:
  ScratchRoot(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  UniqueFd fd_;
};

}  // namespace guard::os
