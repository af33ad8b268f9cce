#include "daemon/runs/preparation.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "common/base/visible.h"
#include "common/os/sys.h"
#include "common/sandbox/compile.h"
#include "common/sandbox/enforce.h"
#include "common/sandbox/environment.h"
#include "common/sandbox/path_text.h"
#include "common/sandbox/report_words.h"
#include "common/sandbox/shared_memory.h"
#include "daemon/runs/environment.h"

namespace guard::daemon {
namespace {

using sandbox::Access;
using sandbox::Origin;
using supervise::LaunchFd;

os::UniqueFd& at(supervise::LaunchFds& fds, LaunchFd which) {
  return fds[static_cast<std::size_t>(which)];
}

Result<os::UniqueFd> open_cwd(const std::string& path) {
  os::UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (fd) return fd;
  const std::string shown = "cwd '" + visible(path) + "'";
  if (errno == ENOENT) {
    return failure(Errc::kNotFound, shown + " does not exist", "make it first: mkdir -p");
  }
  if (errno == ENOTDIR) return failure(Errc::kNotFound, shown + " is not a directory");
  return os_failure(shown);
}

void add_cwd_grant(sandbox::Policy& policy, const std::string& cwd_grant) {
  if (cwd_grant.empty()) return;
  policy.paths.push_back(
      {.path = cwd_grant, .access = Access::kRead, .optional = false, .origin = Origin::kCwd});
}

void add_private_grant(sandbox::Policy& policy, const std::string& folder) {
  policy.paths.push_back(
      {.path = folder, .access = Access::kWrite, .optional = false, .origin = Origin::kPrivate});
}

// /proc/self, /dev/fd and their like name whoever opens them: here that is us.
Result<> refuse_our_own_process(const sandbox::Policy& policy) {
  const std::string ours = "/proc/" + std::to_string(::getpid());
  for (const sandbox::PathGrant& grant : policy.paths) {
    for (const std::string& way : sandbox::links_and_canonical_path(grant.path)) {
      if (!sandbox::is_within(way, ours)) continue;
      return failure(Errc::kInvalid,
                     "allow_" + std::string(sandbox::name_of(grant.access)) + " '" +
                         visible(grant.path) + "' leads to guardd's own process",
                     "the run's own process has no path yet; leave it out");
    }
  }
  return {};
}

Result<sandbox::ResolvedPolicy> resolve_grants(const sandbox::Policy& policy,
                                               const sandbox::Protected& protected_folders) {
  GUARD_ASSIGN(auto resolved, sandbox::resolve(policy, protected_folders));
  GUARD_TRY(refuse_our_own_process(policy));
  return resolved;
}

// As the words about a failed exec need them: guardd's own working directory is not the run's.
std::vector<std::string> absolute(std::vector<std::string> candidates, const std::string& cwd) {
  for (std::string& candidate : candidates) {
    if (!candidate.starts_with('/')) candidate.insert(0, cwd == "/" ? "/" : cwd + "/");
  }
  return candidates;
}

std::uint32_t dropped_variables(const run::Spec& spec) {
  std::uint32_t dropped = 0;
  for (const auto& variable : spec.env) dropped += sandbox::never_passes(variable.name) ? 1 : 0;
  return dropped;
}

}  // namespace

Result<seccomp::Program> Preparation::filter_for(const seccomp::FilterSpec& spec) const {
  {
    const std::lock_guard lock(mutex_);
    for (const Filter& filter : filters_) {
      if (filter.spec == spec) return filter.program;
    }
  }
  GUARD_ASSIGN(seccomp::Program program, seccomp::build_filter(spec));
  const std::lock_guard lock(mutex_);
  filters_.push_back({spec, program});
  return program;
}

Result<Prepared> Preparation::prepare(const run::Spec& spec) const {
  Prepared out;
  GUARD_ASSIGN(at(out.fds, LaunchFd::kCwd), open_cwd(spec.cwd));

  sandbox::Policy policy = spec.policy;
  add_cwd_grant(policy, spec.cwd_grant);
  std::string home, tmp;
  if (const auto wanted = private_variables(spec); wanted.any()) {
    GUARD_ASSIGN(out.folder, PrivateFolder::make(scratch_));
    if (wanted.home) home = out.folder.home();
    if (wanted.tmp) tmp = out.folder.tmp();
  }
  for (const auto* folder : {&home, &tmp}) {
    if (!folder->empty()) add_private_grant(policy, *folder);
  }

  if (!shim_.empty() && !tmp.empty()) policy.paths.push_back(sandbox::shared_memory_grant(shim_));

  GUARD_ASSIGN(const auto resolved, resolve_grants(policy, protected_));
  GUARD_ASSIGN(auto compiled, sandbox::compile(resolved, kernel_, sandbox::Supervision::kTreeKill));
  supervise::Launch& launch = out.launch;
  launch.argv = spec.argv;
  launch.env = environment_of(spec, home, tmp, shim_);
  launch.candidates = run::exec_candidates(spec.argv[0], sandbox::value_of(launch.env, "PATH"));
  launch.confine = compiled.plan.confine;
  launch.wall = spec.policy.limits.wall.value_or(std::chrono::milliseconds(0));
  launch.grace = spec.grace;
  launch.umask = spec.umask;
  if (launch.confine) {
    GUARD_ASSIGN(launch.filter, filter_for(compiled.plan.filter));
    GUARD_ASSIGN(auto staged, sandbox::stage(compiled.plan, resolved, launch.filter));
    launch.limits = staged.limits();
    launch.canary_name = os::ScratchRoot::kCanaryName;
    GUARD_ASSIGN(at(out.fds, LaunchFd::kRuleset), os::duplicate(staged.ruleset_fd()));
    GUARD_ASSIGN(at(out.fds, LaunchFd::kCanaryDir), os::duplicate(scratch_.fd()));
  }

  sandbox::Report& report = compiled.report;
  const std::uint32_t dropped = dropped_variables(spec);
  report.env_passed = static_cast<std::uint32_t>(spec.env.size()) - dropped;
  report.env_withheld = spec.env_withheld + dropped;
  report.private_home = home;
  out.facts = {.program = spec.argv[0],
               .cwd = spec.cwd,
               .candidates = absolute(launch.candidates, spec.cwd),
               .limits = spec.policy.limits,
               .report = std::move(report)};
  return out;
}

Result<sandbox::Report> Preparation::check(sandbox::Policy policy,
                                           const std::string& cwd_grant) const {
  add_cwd_grant(policy, cwd_grant);
  GUARD_ASSIGN(const auto resolved, resolve_grants(policy, protected_));
  GUARD_ASSIGN(auto compiled, sandbox::compile(resolved, kernel_, sandbox::Supervision::kTreeKill));
  return std::move(compiled.report);
}

}  // namespace guard::daemon
