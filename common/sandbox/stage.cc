#include <utility>

#include "common/base/visible.h"
#include "common/sandbox/enforce.h"
#include "common/sandbox/landlock/ruleset.h"
#include "common/sandbox/processes_of_user.h"

namespace guard::sandbox {
namespace {

Result<os::UniqueFd> build_ruleset(const Plan& plan, const ResolvedPolicy& resolved) {
  GUARD_ASSIGN(os::UniqueFd ruleset,
               landlock::create_ruleset({plan.handled_fs, plan.handled_net, plan.scoped}));
  for (const PathRule& rule : plan.paths) {
    const ResolvedGrant& grant = resolved.grants.at(rule.grant);
    const int node = grant.fd ? grant.fd->get() : -1;
    if (auto added = landlock::allow_path(ruleset.get(), node, rule.rights); !added) {
      return std::unexpected(
          std::move(added.error()).within("grant '" + visible(grant.grant.path) + "'"));
    }
  }
  for (const PortRule& rule : plan.ports) {
    if (auto added = landlock::allow_port(ruleset.get(), rule.port, rule.rights); !added) {
      return std::unexpected(
          std::move(added.error()).within("grant port " + std::to_string(rule.port)));
    }
  }
  return ruleset;
}

}  // namespace

Orders Staged::orders() const {
  Orders orders;
  orders.confine = confine_;
  orders.ruleset_fd = ruleset_.get();
  orders.filter = filter_.data();
  orders.filter_length = static_cast<std::uint16_t>(filter_.size());
  orders.limits = limits_.data();
  orders.limit_count = limits_.size();
  return orders;
}

Result<Staged> stage(const Plan& plan, const ResolvedPolicy& resolved) {
  seccomp::Program filter;
  if (plan.confine) {
    GUARD_ASSIGN(filter, seccomp::build_filter(plan.filter));
  }
  return stage(plan, resolved, std::move(filter));
}

Result<Staged> stage(const Plan& plan, const ResolvedPolicy& resolved, seccomp::Program filter) {
  Staged staged;
  staged.confine_ = plan.confine;
  if (!plan.confine) return staged;
  GUARD_ASSIGN(staged.ruleset_, build_ruleset(plan, resolved));
  staged.filter_ = std::move(filter);
  staged.limits_ = plan.limits;
  // The kernel counts every process of the user, wherever it runs; what was asked is how many more.
  for (Limit& limit : staged.limits_) {
    if (limit.resource == RLIMIT_NPROC) limit.value += processes_of_user();
  }
  return staged;
}

}  // namespace guard::sandbox
