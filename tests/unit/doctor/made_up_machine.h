// Machines made up for the tests of findings.
#pragma once

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>

#include "client/doctor/findings.h"
#include "common/base/version.h"

namespace guard::doctor {

// A machine on which nothing is amiss and guardd runs.
inline Facts good() {
  Facts facts;
  facts.kernel.support = {.landlock_abi = 9,
                          .landlock_abi_kernel = 9,
                          .landlock_errata = 7,
                          .seccomp_filter = true,
                          .pidfd = true,
                          .close_range = true,
                          .release = "7.1.2"};
  facts.kernel.ptrace_scope = 1;
  facts.surroundings.uid = 1000;
  facts.surroundings.cgroup_v2 = true;
  facts.surroundings.cgroup_delegated = true;
  facts.surroundings.systemd_user = true;
  GuarddFacts& guardd = facts.guardd;
  guardd.socket =
      os::SocketChoice{"/run/user/1000/guardd/guardd.sock", os::SocketSource::kXdgRuntimeDir};
  guardd.xdg_runtime_dir = "/run/user/1000";
  guardd.xdg_runtime_dir_ours = true;
  guardd.folder.path = "/run/user/1000/guardd";
  guardd.scratch.path = "/var/tmp/guardd-1000";
  guardd.installed = {.guardd = "/usr/local/bin/guardd",
                      .beside = "/usr/local/bin",
                      .launcher = "/usr/local/libexec/guardd/guard-launcher",
                      .shim = "/usr/local/lib/guardd/libguard-shm.so"};
  guardd.state = DaemonState::kRuns;
  guardd.daemon.version = kVersion;
  guardd.daemon.pid = 4711;
  guardd.daemon.landlock_abi = 9;
  return facts;
}

inline Facts with(const std::function<void(Facts&)>& change) {
  Facts facts = good();
  change(facts);
  return facts;
}

inline Facts without_landlock(const std::function<void(Facts&)>& change) {
  return with([&](Facts& facts) {
    facts.kernel.support.landlock_abi = facts.kernel.support.landlock_abi_kernel = 0;
    facts.kernel.landlock_errno = ENOSYS;
    change(facts);
  });
}

// An empty one when it is not told.
inline Finding find(const Facts& facts, std::string_view id) {
  const Findings all = findings(facts);
  const auto found = std::ranges::find(all, id, &Finding::id);
  return found == all.end() ? Finding{} : *found;
}

inline Level worst(const Facts& facts) {
  Level level = Level::kOk;
  for (const Finding& finding : findings(facts)) level = std::max(level, finding.level);
  return level;
}

}  // namespace guard::doctor
