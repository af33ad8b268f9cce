#include "daemon/runs/environment.h"

#include <algorithm>
#include <string_view>

#include "common/sandbox/environment.h"
#include "common/sandbox/shared_memory.h"

namespace guard::daemon {
namespace {

bool keeps(const run::Spec& spec, std::string_view name) {
  return std::ranges::find(spec.keep_env, name) != spec.keep_env.end();
}

auto find(std::vector<std::string>& environment, std::string_view name) {
  return std::ranges::find_if(environment, [&](std::string_view variable) {
    return variable.starts_with(name) && variable.substr(name.size()).starts_with('=');
  });
}

bool has(std::vector<std::string>& environment, std::string_view name) {
  return find(environment, name) != environment.end();
}

void set(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  const std::string start = std::string(name) + "=";
  const auto found = find(environment, name);
  if (found == environment.end()) {
    environment.push_back(start + std::string(value));
  } else {
    *found = start + std::string(value);
  }
}

}  // namespace

PrivateVariables private_variables(const run::Spec& spec) {
  if (!spec.policy.default_grants) return {};
  return {.home = !spec.policy.real_home && !keeps(spec, "HOME"), .tmp = !keeps(spec, "TMPDIR")};
}

std::vector<std::string> environment_of(const run::Spec& spec, const std::string& home,
                                        const std::string& tmp, const std::string& shim) {
  std::vector<std::string> out;
  bool has_path = false;
  for (const auto& variable : spec.env) {
    if (sandbox::never_passes(variable.name)) continue;
    has_path = has_path || variable.name == "PATH";
    out.push_back(variable.name + "=" + variable.value);
  }
  if (!home.empty()) set(out, "HOME", home);
  if (!tmp.empty()) set(out, "TMPDIR", tmp);
  for (const auto& [name, value] : sandbox::shared_memory_variables(shim, tmp)) {
    if (!keeps(spec, name) && !has(out, name)) set(out, name, value);
  }
  if (!has_path && !keeps(spec, "PATH")) set(out, "PATH", run::kDefaultPath);
  return out;
}

}  // namespace guard::daemon
