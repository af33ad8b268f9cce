// What enforce() executes, and cannot misread.
//
// A Plan is a value: the Landlock rules by grant, the filter, the limits. compile() makes it, tests
// compare it. stage() lays it out for the child: the ruleset becomes a descriptor (a ruleset built
// once may restrict any number of processes, landlock(7)), the filter one flat array.
#pragma once

#include <linux/filter.h>
#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/sandbox/grants.h"
#include "common/sandbox/seccomp/filter.h"

namespace guard::sandbox {

struct PathRule {
  std::uint64_t rights = 0;  // LANDLOCK_ACCESS_FS_*; a subset of handled_fs
  std::size_t grant = 0;     // index into ResolvedPolicy::grants
  friend bool operator==(const PathRule&, const PathRule&) = default;
};

struct PortRule {
  std::uint64_t rights = 0;  // LANDLOCK_ACCESS_NET_*
  std::uint16_t port = 0;
  friend bool operator==(const PortRule&, const PortRule&) = default;
};

struct Limit {
  int resource = 0;  // RLIMIT_*; hard = soft = value
  std::uint64_t value = 0;
  friend bool operator==(const Limit&, const Limit&) = default;
};

struct Plan {
  bool confine = true;  // false only for Level::kUnsafeNoGuard: nothing of the below is put on
  std::uint64_t handled_fs = 0;
  std::uint64_t handled_net = 0;
  std::uint64_t scoped = 0;
  std::vector<PathRule> paths;
  std::vector<PortRule> ports;
  seccomp::FilterSpec filter;
  std::vector<Limit> limits;  // RLIMIT_CORE {1,1} is always among them when confined
  friend bool operator==(const Plan&, const Plan&) = default;
};

}  // namespace guard::sandbox
