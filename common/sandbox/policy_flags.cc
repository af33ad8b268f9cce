#include "common/sandbox/policy_flags.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/base/visible.h"
#include "common/sandbox/path_text.h"

namespace guard::sandbox {
namespace {

constexpr FlagRow kTable[] = {
    {"--allow-read", "PATH",
     "read, list and execute PATH and everything below it (repeatable;\n"
     "?PATH: skipped when it is missing)"},
    {"--allow-write", "PATH", "that, and write, create, remove, rename (repeatable, ?PATH)"},
    {"--allow-connect", "PORT", "connect to this TCP port of any host (repeatable)"},
    {"--allow-bind", "PORT", "listen on this TCP port; 0: a free one (repeatable)"},
    {"--env", "NAME[=VALUE]", "pass one more variable, or set it (repeatable)"},
    {"--inherit-env", "", "pass the whole environment"},
    {"--cd", "DIR", "run in DIR; paths stay relative to where you are"},
    {"--no-cwd", "", "no read grant on the working directory"},
    {"--real-home", "", "keep HOME; this does not grant it"},
    {"--no-default-grants", "", "no system base, no private HOME and TMPDIR"},
    {"--strict", "", "refuse when this kernel cannot enforce everything"},
    {"--best-effort", "",
     "accept file access, no new privileges and the system call\n"
     "filter when this kernel can do no more"},
    {"--unsafe-no-guard", "", "no sandbox at all; the report says so"},
};

struct Contradiction {
  std::string_view first, second;
  std::string_view why;
};

constexpr Contradiction kContradictions[] = {
    {"--strict", "--best-effort", "everything, or what there is"},
    {"--strict", "--unsafe-no-guard", "everything, or nothing"},
    {"--best-effort", "--unsafe-no-guard", "what there is, or nothing"},
};

std::string shown(std::string_view flag, std::string_view value) {
  return std::string(flag) + " '" + visible(value) + "'";
}

Result<std::uint16_t> parse_port(std::string_view flag, std::string_view text, int least) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool digits = !text.empty() && text.front() != '-' && end == text.data() + text.size();
  if (digits && error == std::errc{} && port >= least && port <= 65535) {
    return static_cast<std::uint16_t>(port);
  }
  std::string hint = "a number from " + std::to_string(least) + " to 65535";
  if (text.contains(':')) {
    hint = "a port alone: the kernel's rules know ports and no hosts, so it is open to any host";
  } else if (text.contains(',') || (text.contains('-') && text.front() != '-')) {
    hint = "one port a flag; repeat " + std::string(flag);
  }
  return failure(Errc::kInvalid, shown(flag, text) + " is no port", std::move(hint));
}

template <class T>
void add_once(std::vector<T>& list, T value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(std::move(value));
}

}  // namespace

std::span<const FlagRow> policy_flag_table() { return kTable; }

const FlagRow* find_flag(std::span<const FlagRow> table, std::string_view name) {
  const auto row = std::ranges::find(table, name, &FlagRow::name);
  return row == table.end() ? nullptr : &*row;
}

std::string_view find_elsewhere(std::span<const FlagElsewhere> table, std::string_view name) {
  const auto row = std::ranges::find(table, name, &FlagElsewhere::name);
  return row == table.end() ? std::string_view() : row->hint;
}

FlagText split_flag(std::string_view argument) {
  if (!argument.starts_with('-') || argument == "-") return {};
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return {argument, std::nullopt};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

std::unexpected<Error> given_twice(std::string_view flag) {
  return failure(Errc::kInvalid, std::string(flag) + " is given twice", "give it once");
}

Result<std::string> PolicyFlags::absolute(std::string_view flag, std::string_view path) const {
  if (path.empty()) {
    return failure(Errc::kInvalid, std::string(flag) + " '' is empty",
                   "an unset variable? write . for the working directory");
  }
  if (path.contains('\0')) return failure(Errc::kInvalid, shown(flag, path) + " holds a NUL byte");
  if (path.front() != '/' && cwd_.empty()) {
    return failure(Errc::kInvalid, shown(flag, path) + " is relative to a folder that is gone",
                   "cd to one that exists, or give an absolute path");
  }
  return absolute_path(path, cwd_);
}

Result<> PolicyFlags::add_path(std::string_view flag, std::string_view value, Access access) {
  PathGrant grant;
  grant.access = access;
  grant.optional = value.starts_with('?');
  GUARD_ASSIGN(grant.path, absolute(flag, grant.optional ? value.substr(1) : value));
  add_once(request_.policy.paths, std::move(grant));
  return {};
}

Result<> PolicyFlags::apply(std::string_view flag, std::optional<std::string_view> value) {
  const FlagRow* row = find_flag(kTable, flag);
  if (row == nullptr) return failure(Errc::kInvalid, "unknown flag " + visible(flag));
  if (row->argument.empty() && value) {
    return failure(Errc::kInvalid, std::string(flag) + " takes no value",
                   "leave out '=" + visible(*value) + "'");
  }
  if (!row->argument.empty() && !value) {
    return failure(Errc::kInvalid, std::string(flag) + " lacks its " + std::string(row->argument));
  }
  if (flag == "--cd" && std::ranges::find(given_, row->name) != given_.end()) {
    return given_twice(flag);
  }
  given_.push_back(row->name);
  Policy& policy = request_.policy;
  if (flag == "--allow-read") return add_path(flag, *value, Access::kRead);
  if (flag == "--allow-write") return add_path(flag, *value, Access::kWrite);
  if (flag == "--allow-connect") {
    GUARD_ASSIGN(const std::uint16_t port, parse_port(flag, *value, 1));
    add_once(policy.allow_connect, port);
  } else if (flag == "--allow-bind") {
    GUARD_ASSIGN(const std::uint16_t port, parse_port(flag, *value, 0));
    add_once(policy.allow_bind, port);
  } else if (flag == "--env") {
    GUARD_ASSIGN(EnvChoice choice, parse_env_choice(*value));
    request_.env.choices.push_back(std::move(choice));
  } else if (flag == "--cd") {
    GUARD_ASSIGN(request_.directory, absolute(flag, *value));
  } else if (flag == "--inherit-env") {
    request_.env.inherit = true;
  } else if (flag == "--no-cwd") {
    request_.grant_cwd = false;
  } else if (flag == "--real-home") {
    policy.real_home = true;
  } else if (flag == "--no-default-grants") {
    policy.default_grants = false;
  } else if (flag == "--strict") {
    policy.level = Level::kStrict;
  } else if (flag == "--best-effort") {
    policy.level = Level::kBestEffort;
  } else if (flag == "--unsafe-no-guard") {
    policy.level = Level::kUnsafeNoGuard;
  }
  return {};
}

Result<bool> PolicyFlags::consume(std::span<const std::string> arguments, std::size_t& index) {
  const FlagText flag = split_flag(arguments[index]);
  const FlagRow* row = find_flag(kTable, flag.name);
  if (row == nullptr) return false;
  std::optional<std::string_view> value = flag.value;
  std::size_t next = index + 1;
  if (!row->argument.empty() && !value && next < arguments.size() && arguments[next] != "--") {
    value = arguments[next++];
  }
  GUARD_TRY(apply(row->name, value));
  index = next;
  return true;
}

Result<PolicyRequest> PolicyFlags::finish() const {
  const auto given = [this](std::string_view name) {
    return std::ranges::find(given_, name) != given_.end();
  };
  for (const Contradiction& pair : kContradictions) {
    if (!given(pair.first) || !given(pair.second)) continue;
    return failure(
        Errc::kInvalid,
        std::string(pair.first) + " and " + std::string(pair.second) + " contradict each other",
        std::string(pair.why) + ": choose one");
  }
  return request_;
}

std::string grant_working_directory(PolicyRequest& request, const std::string& directory,
                                    const std::string& home) {
  if (!request.grant_cwd || directory.empty()) return {};
  if (directory == "/" || (!home.empty() && is_within(home, directory))) {
    return "the working directory is not granted: it is your home folder or above it";
  }
  const auto covers = [&](const PathGrant& grant) { return is_within(directory, grant.path); };
  if (std::ranges::any_of(request.policy.paths, covers)) return {};
  request.policy.paths.push_back({directory, Access::kRead, false, Origin::kCwd});
  return {};
}

}  // namespace guard::sandbox
