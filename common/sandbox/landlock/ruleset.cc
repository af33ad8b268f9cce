#include "common/sandbox/landlock/ruleset.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/os/raw_syscall.h"

namespace guard::landlock {
namespace {

long add_rule(int ruleset, int type, const void* attr) {
  return os::raw_syscall(kSysAddRule, ruleset, type, attr, 0);
}

}  // namespace

int abi_version() noexcept {
  return static_cast<int>(os::raw_syscall(kSysCreateRuleset, 0, 0, kCreateRulesetVersion));
}

std::uint32_t errata() noexcept {
  const long bits = os::raw_syscall(kSysCreateRuleset, 0, 0, kCreateRulesetErrata);
  return bits > 0 ? static_cast<std::uint32_t>(bits) : 0;
}

Result<os::UniqueFd> create_ruleset(const Handled& handled) {
  const RulesetAttr attr{handled.fs, handled.net, handled.scoped};
  const long fd = os::raw_syscall(kSysCreateRuleset, &attr, sizeof attr, 0);  // CLOEXEC by birth
  if (fd < 0) return os_failure("landlock_create_ruleset", static_cast<int>(-fd));
  return os::UniqueFd(static_cast<int>(fd));
}

Result<> allow_path(int ruleset, int node, std::uint64_t rights) {
  const PathBeneathAttr attr{rights, node};
  const long error = add_rule(ruleset, kRulePathBeneath, &attr);
  if (error < 0) return os_failure("landlock_add_rule", static_cast<int>(-error));
  return {};
}

Result<> allow_port(int ruleset, std::uint16_t port, std::uint64_t rights) {
  const NetPortAttr attr{rights, port};
  const long error = add_rule(ruleset, kRuleNetPort, &attr);
  if (error < 0) return os_failure("landlock_add_rule", static_cast<int>(-error));
  return {};
}

Result<os::UniqueFd> signal_scope_ruleset() {
  GUARD_ASSIGN(os::UniqueFd ruleset,
               create_ruleset({.fs = kRefer, .net = 0, .scoped = kScopeSignal}));
  const os::UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return os_failure("open '/'");
  GUARD_TRY(allow_path(ruleset.get(), root.get(), kRefer));
  return ruleset;
}

int restrict_self(int ruleset) noexcept {
  return static_cast<int>(os::raw_syscall(kSysRestrictSelf, ruleset, 0));
}

}  // namespace guard::landlock
