#include "common/sandbox/environment.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/base/visible.h"
#include "common/sandbox/shared_memory.h"

namespace guard::sandbox {
namespace {

constexpr std::array<std::string_view, 14> kPass = {
    "PATH",      "HOME",     "USER", "LOGNAME", "SHELL",  "LANG",        "TERM",
    "COLORTERM", "NO_COLOR", "CI",   "TZ",      "TMPDIR", "VIRTUAL_ENV", "SSL_CERT_FILE",
};

std::string_view name_in(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

}  // namespace

bool passes_by_default(std::string_view name) {
  return name.starts_with("LC_") || std::ranges::find(kPass, name) != kPass.end();
}

bool never_passes(std::string_view name) {
  return name.starts_with("GUARDD_") || name.starts_with("LISTEN_") || name == "NOTIFY_SOCKET";
}

Result<EnvChoice> parse_env_choice(std::string_view text) {
  const std::string shown = "--env '" + visible(text) + "'";
  const std::string_view name = name_in(text);
  if (name.empty()) return failure(Errc::kInvalid, shown + " has no name", "NAME or NAME=value");
  if (text.contains('\0')) return failure(Errc::kInvalid, shown + " holds a NUL byte");
  if (never_passes(name)) {
    return failure(Errc::kInvalid, shown + " never passes into a run",
                   "it says how to reach guardd or the service manager");
  }
  EnvChoice choice{std::string(name), std::nullopt};
  if (name.size() < text.size()) choice.value = text.substr(name.size() + 1);
  return choice;
}

std::string_view value_of(const std::vector<std::string>& variables, std::string_view name) {
  for (const std::string_view variable : variables) {
    if (variable.size() > name.size() && name_in(variable) == name) {
      return variable.substr(name.size() + 1);
    }
  }
  return {};
}

Environment build_environment(const std::vector<std::string>& caller, const EnvRequest& request) {
  std::vector<std::pair<std::string, std::optional<std::string>>> chosen;
  if (!request.private_home.empty()) chosen.emplace_back("HOME", request.private_home);
  if (!request.private_tmp.empty()) chosen.emplace_back("TMPDIR", request.private_tmp);
  for (auto& [name, value] :
       shared_memory_variables(request.shared_memory_shim, request.private_tmp)) {
    // A caller's own LD_PRELOAD that passes wins.
    if (request.inherit && !value_of(caller, name).empty()) continue;
    chosen.emplace_back(std::move(name), std::move(value));
  }
  for (const EnvChoice& choice : request.choices) {
    std::erase_if(chosen, [&](const auto& other) { return other.first == choice.name; });
    chosen.emplace_back(choice.name, choice.value);
  }

  Environment result;
  std::set<std::string, std::less<>> seen;
  for (const std::string& variable : caller) {
    const std::string_view name = name_in(variable);
    if (name.empty() || name.size() == variable.size()) continue;
    if (!seen.emplace(name).second) continue;
    const auto choice =
        std::ranges::find(chosen, name, [](const auto& c) -> std::string_view { return c.first; });
    // A value of ours replaces it: it neither passes nor counts as withheld.
    if (choice != chosen.end() && choice->second) continue;
    const bool passes = !never_passes(name) &&
                        (choice != chosen.end() || request.inherit || passes_by_default(name));
    if (passes) result.variables.push_back(variable);
    ++(passes ? result.passed : result.withheld);
  }
  for (const auto& [name, value] : chosen) {
    if (value) result.variables.push_back(name + "=" + *value);
    if (!value && !seen.contains(name)) result.not_set.push_back(name);
  }
  return result;
}

}  // namespace guard::sandbox
