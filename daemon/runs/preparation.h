// From a Spec to a Launch: everything about a run that touches the file system or the kernel, done
// before anything is started. What cannot be had is an error here, and nothing ran.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/os/scratch_dir.h"
#include "common/run/spec.h"
#include "common/sandbox/grants.h"
#include "common/sandbox/kernel_support.h"
#include "common/sandbox/plan.h"
#include "common/sandbox/shared_memory.h"
#include "common/supervise/launch_protocol.h"
#include "daemon/runs/private_folder.h"
#include "daemon/runs/run_state.h"

namespace guard::daemon {

struct Prepared {
  supervise::Launch launch;
  supervise::LaunchFds fds;  // kCwd, kRuleset, kCanaryDir; the pipes come with the launch
  RunFacts facts;
  PrivateFolder folder;
};

// A path may lie on a file system that hangs, so this runs on a worker thread, many at a time: it
// is immutable but for the filters it keeps.
class Preparation {
 public:
  // `scratch` outlives it.
  Preparation(sandbox::KernelSupport kernel, sandbox::Protected protected_folders,
              const os::ScratchRoot& scratch)
      : kernel_(std::move(kernel)), protected_(std::move(protected_folders)), scratch_(scratch) {}

  const sandbox::KernelSupport& kernel() const { return kernel_; }

  // kNotFound names the working directory or the grant that does not exist; kUnsupported: this
  // kernel cannot enforce the policy.
  Result<Prepared> prepare(const run::Spec& spec) const;

  // What a run with this policy would get; makes nothing.
  Result<sandbox::Report> check(sandbox::Policy policy, const std::string& cwd_grant) const;

 private:
  struct Filter {
    seccomp::FilterSpec spec;
    seccomp::Program program;
  };
  Result<seccomp::Program> filter_for(const seccomp::FilterSpec& spec) const;

  sandbox::KernelSupport kernel_;
  sandbox::Protected protected_;
  const os::ScratchRoot& scratch_;
  const std::string shim_ = sandbox::find_shared_memory_shim();
  mutable std::mutex mutex_;
  mutable std::vector<Filter> filters_;  // few: a FilterSpec has a handful of switches
};

}  // namespace guard::daemon
