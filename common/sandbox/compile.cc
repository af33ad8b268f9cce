#include "common/sandbox/compile.h"

#include <sys/resource.h>

#include <algorithm>

#include "common/sandbox/landlock/rights.h"
#include "common/sandbox/levels.h"
#include "common/sandbox/protections.h"
#include "common/sandbox/rights_of_grant.h"

namespace guard::sandbox {
namespace {

std::vector<Limit> limits_of(const Limits& limits) {
  // Not 0: a core_pattern that is a pipe ignores that one and aborts on 1 (fs/coredump.c).
  std::vector<Limit> list = {{RLIMIT_CORE, 1}};
  if (limits.cpu) list.push_back({RLIMIT_CPU, static_cast<std::uint64_t>(limits.cpu->count())});
  if (limits.memory_bytes) list.push_back({RLIMIT_AS, *limits.memory_bytes});
  if (limits.processes) list.push_back({RLIMIT_NPROC, *limits.processes});
  if (limits.file_size_bytes) list.push_back({RLIMIT_FSIZE, *limits.file_size_bytes});
  if (limits.open_files) list.push_back({RLIMIT_NOFILE, *limits.open_files});
  return list;
}

seccomp::FilterSpec filter_of(const Policy& policy, int abi, Supervision supervision) {
  const bool any_port = !policy.allow_connect.empty() || !policy.allow_bind.empty();
  seccomp::FilterSpec spec;
  // Below ABI 4 the levels let it come this far with --best-effort only.
  spec.inet_stream = any_port;
  spec.listen = !policy.allow_bind.empty();
  spec.allow_ptrace = policy.allow_ptrace;
  spec.refuse_truncate = abi < 3;
  spec.refuse_kill_all = abi < 6;
  // A supervised run gets pipes, never the terminal of the caller.
  spec.lock_terminal = supervision == Supervision::kNone && !policy.allow_tty_modes;
  return spec;
}

std::vector<PortRule> ports_of(const Policy& policy, std::uint64_t handled_net) {
  std::vector<PortRule> rules;
  const auto add = [&](const std::vector<std::uint16_t>& ports, std::uint64_t right) {
    if ((handled_net & right) == 0) return;
    for (const std::uint16_t port : ports) rules.push_back({right, port});
  };
  add(policy.allow_connect, landlock::kConnectTcp);
  add(policy.allow_bind, landlock::kBindTcp);
  return rules;
}

Plan plan_of(const ResolvedPolicy& resolved, int abi, Supervision supervision) {
  const landlock::Handled handled = landlock::handled_by(abi);
  Plan plan;
  plan.handled_fs = handled.fs;
  plan.handled_net = handled.net;
  plan.scoped = handled.scoped;
  for (std::size_t i = 0; i < resolved.grants.size(); ++i) {
    const std::uint64_t rights = rights_of(resolved.grants[i], handled.fs);
    if (rights != 0) plan.paths.push_back({rights, i});
  }
  plan.ports = ports_of(resolved.policy, handled.net);
  plan.filter = filter_of(resolved.policy, abi, supervision);
  plan.limits = limits_of(resolved.policy.limits);
  return plan;
}

// One line a grant: a grant that was expanded around guardd's folders is many rules.
std::vector<GrantLine> grant_lines(const ResolvedPolicy& resolved, std::uint64_t handled_fs) {
  std::vector<GrantLine> lines;
  const ResolvedGrant* expanded = nullptr;
  for (const ResolvedGrant& grant : resolved.grants) {
    if (expanded != nullptr && grant.grant == expanded->grant) continue;
    expanded = grant.list_only ? &grant : nullptr;
    ResolvedGrant whole = grant;
    whole.list_only = false;
    lines.push_back({grant.grant.path, grant.resolved, grant.grant.access, grant.grant.origin,
                     landlock::words(rights_of(whole, handled_fs)), grant.skipped, grant.warning});
  }
  return lines;
}

std::vector<std::string> warnings_of(const Policy& policy, const KernelSupport& kernel) {
  const int abi = kernel.landlock_abi;
  std::vector<std::string> warnings;
  if (policy.level == Level::kUnsafeNoGuard) return warnings;
  if (abi < std::min(kernel.landlock_abi_kernel, kNewestLandlockAbi)) {
    warnings.push_back("Landlock ABI lowered from " + std::to_string(kernel.landlock_abi_kernel) +
                       " to " + std::to_string(abi) + " by GUARD_LANDLOCK_ABI_MAX");
  }
  if (abi == 1) {
    warnings.push_back("this kernel refuses rename and link across folders in every sandbox; " +
                       kernel_with_abi(2) + " can allow them");
  }
  const bool writes = std::ranges::any_of(
      policy.paths, [](const PathGrant& grant) { return grant.access == Access::kWrite; });
  if (abi < 3 && writes) {
    warnings.push_back("truncate(2) is refused below the write grants too; " + kernel_with_abi(3) +
                       " tells them apart");
  }
  return warnings;
}

Report report_of(const ResolvedPolicy& resolved, const KernelSupport& kernel,
                 Supervision supervision, std::uint64_t handled_fs) {
  const Policy& policy = resolved.policy;
  Report report;
  report.level = policy.level;
  report.landlock_abi = kernel.landlock_abi;
  report.landlock_abi_kernel = kernel.landlock_abi_kernel;
  report.kernel = kernel.release;
  report.protections = protections_of(policy, kernel, supervision);
  report.grants = grant_lines(resolved, handled_fs);
  report.connect_ports = policy.allow_connect;
  report.bind_ports = policy.allow_bind;
  report.ungoverned = ungoverned_by(policy, kernel, supervision);
  report.warnings = warnings_of(policy, kernel);
  return report;
}

}  // namespace

Result<Compiled> compile(const ResolvedPolicy& policy, const KernelSupport& kernel,
                         Supervision supervision) {
  Compiled compiled;
  if (policy.policy.level == Level::kUnsafeNoGuard) {
    compiled.plan.confine = false;
  } else {
    compiled.plan = plan_of(policy, kernel.landlock_abi, supervision);
  }
  compiled.report = report_of(policy, kernel, supervision, compiled.plan.handled_fs);
  GUARD_TRY(sufficient(policy.policy.level, compiled.report.protections, kernel));
  return compiled;
}

}  // namespace guard::sandbox
