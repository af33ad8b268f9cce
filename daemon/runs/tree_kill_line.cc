#include "daemon/runs/tree_kill_line.h"

#include "common/sandbox/protections.h"

namespace guard::daemon {
namespace {

using sandbox::Protection;
using sandbox::ProtectionLine;
using sandbox::Status;
using supervise::KillLayer;

constexpr int kScopeAbi = 6;

ProtectionLine line_of(KillLayer layer) {
  constexpr Protection kThis = Protection::kTreeKill;
  switch (layer) {
    case KillLayer::kScope:
      return {kThis, Status::kEnforced, "landlock", {}};
    case KillLayer::kCgroup:
    case KillLayer::kGate:
      return {kThis, Status::kWeakened, layer == KillLayer::kGate ? "group gate" : "cgroup",
              "a program that kills guardd, its launcher and its monitor outlives them; " +
                  sandbox::kernel_with_abi(kScopeAbi) + " refuses it those signals"};
    case KillLayer::kSweep:
      break;
  }
  return {kThis, Status::kWeakened, "sweeps of /proc",
          "a program that forks fast is hunted, not cut off at once; " +
              sandbox::kernel_with_abi(kScopeAbi) + " does that"};
}

}  // namespace

void tell_tree_kill(KillLayer proven, sandbox::Report& report) {
  for (ProtectionLine& line : report.protections) {
    if (line.protection == Protection::kTreeKill && line.status != Status::kNotAsked)
      line = line_of(proven);
  }
}

}  // namespace guard::daemon
