#include <string>
#include <utility>

#include <fmt/format.h>

#include "client/doctor/findings.h"
#include "common/sandbox/compile.h"

namespace guard::doctor {
namespace {

// A grant changes no protection, so a policy without paths stands for any of the default level.
Result<sandbox::Compiled> compile_default(const sandbox::KernelSupport& kernel) {
  return sandbox::compile({.policy = {}, .grants = {}}, kernel, sandbox::Supervision::kTreeKill);
}

Finding of_line(const sandbox::ProtectionLine& line) {
  const bool missing = line.status == sandbox::Status::kMissing;
  return {"protection." + std::string(sandbox::name_of(line.protection)), Level::kWarning,
          fmt::format("{} is {}: {}", sandbox::name_of(line.protection),
                      missing ? "missing" : "weakened", line.why),
          "boot the kernel that it names; --strict refuses to run with less"};
}

}  // namespace

Findings enforcement_findings(const Facts& facts) {
  if (facts.kernel.not_probed) return {};
  auto compiled = compile_default(facts.kernel.support);
  if (!compiled) {
    return {{"enforcement", Level::kProblem, "runs are refused: " + compiled.error().message(),
             compiled.error().hint}};
  }
  Findings found;
  std::size_t enforced = 0;
  for (const sandbox::ProtectionLine& line : compiled->report.protections) {
    if (line.status == sandbox::Status::kEnforced) {
      ++enforced;
    } else if (line.status != sandbox::Status::kNotAsked) {
      found.push_back(of_line(line));
    }
  }
  found.insert(found.begin(), Finding{"enforcement", Level::kOk,
                                      fmt::format("runs are confined: {} protections of {} in full",
                                                  enforced, compiled->report.protections.size()),
                                      ""});
  return found;
}

}  // namespace guard::doctor
