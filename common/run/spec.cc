#include "common/run/spec.h"

#include <climits>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "common/base/duration_text.h"
#include "common/base/visible.h"

namespace guard::run {
namespace {

constexpr std::string_view kHintLongArgument = "pass it in a file or through standard input";

std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

std::unexpected<Error> invalid(std::string what, std::string_view hint = {}) {
  return failure(Errc::kInvalid, std::move(what), std::string(hint));
}

Result<> validate_argv(const std::vector<std::string>& argv) {
  if (argv.empty()) return invalid("args is empty", "name a program to run");
  if (argv[0].empty()) return invalid("args[0] is empty", "name a program to run");
  if (argv.size() > kMaxArgs) {
    return invalid(fmt::format("args has {} entries; at most {} are taken", grouped(argv.size()),
                               grouped(kMaxArgs)));
  }
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (has_nul(argv[i])) return invalid(fmt::format("args[{}] has a NUL byte", i));
    if (argv[i].size() > kMaxArgBytes) {
      return invalid(
          fmt::format("args[{}] is {} bytes; the kernel takes at most {} in one argument", i,
                      grouped(argv[i].size()), grouped(kMaxArgBytes)),
          kHintLongArgument);
    }
  }
  return {};
}

Result<> validate_env(const std::vector<EnvVar>& env) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < env.size(); ++i) {
    const EnvVar& variable = env[i];
    if (variable.name.empty()) return invalid(fmt::format("env[{}] has no name", i));
    if (has_nul(variable.name) || variable.name.find('=') != std::string::npos) {
      return invalid(
          fmt::format("env[{}]: the name '{}' has a '=' or a NUL byte", i, visible(variable.name)));
    }
    if (has_nul(variable.value)) {
      return invalid(fmt::format("env '{}' has a NUL byte in its value", visible(variable.name)));
    }
    const std::size_t bytes = variable.name.size() + 1 + variable.value.size();
    if (bytes > kMaxArgBytes) {
      return invalid(
          fmt::format("env '{}' is {} bytes; the kernel takes at most {} in one variable",
                      visible(variable.name), grouped(bytes), grouped(kMaxArgBytes)));
    }
    if (!names.insert(variable.name).second) {
      return invalid(fmt::format("env names '{}' twice", visible(variable.name)));
    }
  }
  return {};
}

// As execve(2) counts: each string with its NUL, and the pointer to it.
Result<> validate_total(const Spec& spec) {
  std::size_t total = 0;
  for (const std::string& arg : spec.argv) total += arg.size() + 1 + sizeof(char*);
  for (const EnvVar& variable : spec.env) {
    total += variable.name.size() + 1 + variable.value.size() + 1 + sizeof(char*);
  }
  if (total <= kMaxTotalBytes) return {};
  return invalid(fmt::format("args and env together are {} bytes; at most {} are taken",
                             grouped(total), grouped(kMaxTotalBytes)),
                 kHintLongArgument);
}

Result<> validate_directory(std::string_view field, const std::string& path) {
  if (has_nul(path)) return invalid(fmt::format("{} has a NUL byte", field));
  if (!path.starts_with('/')) {
    return invalid(fmt::format("{} '{}' is not absolute", field, visible(path)));
  }
  if (path.size() >= PATH_MAX) {
    return invalid(fmt::format("{} is {} bytes; a path is at most {}", field, grouped(path.size()),
                               grouped(PATH_MAX - 1)));
  }
  return {};
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_run_id(std::string_view text) {
  if (text.empty() || text.size() > 128 || !is_alphanumeric(text[0])) return false;
  for (const char c : text) {
    if (!is_alphanumeric(c) && c != '.' && c != '_' && c != '-') return false;
  }
  return true;
}

Result<> validate(const Spec& spec) {
  if (!spec.run_id.empty() && !is_run_id(spec.run_id)) {
    return invalid(fmt::format("run_id '{}' is not one", visible(spec.run_id).substr(0, 160)),
                   "1 to 128 of A-Z a-z 0-9 . _ -, the first a letter or a digit");
  }
  GUARD_TRY(validate_argv(spec.argv));
  GUARD_TRY(validate_env(spec.env));
  GUARD_TRY(validate_total(spec));
  GUARD_TRY(validate_directory("cwd", spec.cwd));
  if (!spec.cwd_grant.empty()) GUARD_TRY(validate_directory("cwd_grant", spec.cwd_grant));
  GUARD_TRY(sandbox::validate(spec.policy));
  if (spec.grace < std::chrono::milliseconds(0)) return invalid("grace is negative");
  if (spec.grace > kMaxGrace) {
    return invalid(fmt::format("grace {} is too long; at most {}", duration_text(spec.grace),
                               duration_text(kMaxGrace)));
  }
  if ((spec.umask & ~mode_t{0777}) != 0) {
    return invalid(fmt::format("umask {:#o} is above 0777", spec.umask));
  }
  return {};
}

std::vector<std::string> exec_candidates(std::string_view program, std::string_view path_variable) {
  if (program.find('/') != std::string_view::npos) return {std::string(program)};
  std::vector<std::string> candidates;
  while (true) {
    const std::size_t colon = path_variable.find(':');
    const std::string_view folder = path_variable.substr(0, colon);
    // "./x" rather than "x": a candidate always has a slash, so nobody searches PATH again.
    std::string file = folder.empty() ? "." : std::string(folder);
    if (!file.ends_with('/')) file += '/';
    file += program;
    candidates.push_back(std::move(file));
    if (colon == std::string_view::npos) return candidates;
    path_variable.remove_prefix(colon + 1);
  }
}

}  // namespace guard::run
