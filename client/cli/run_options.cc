#include "client/cli/run_options.h"

#include <algorithm>
#include <utility>

#include "client/cli/flags.h"
#include "common/base/duration_text.h"
#include "common/base/run_id.h"
#include "common/base/visible.h"
#include "common/sandbox/environment.h"
#include "common/sandbox/path_text.h"

namespace guard::client {
namespace {

using sandbox::FlagRow;

constexpr FlagRow kRunTable[] = {
    {"--timeout", "DURATION",
     "end the run after this long: SIGTERM, the grace, then SIGKILL to\n"
     "all of it; exit code 124 (500ms, 30s, 5m, 8h; none)"},
    {"--grace", "DURATION",
     "from SIGTERM to SIGKILL, at the timeout and when guardd is told to\n"
     "end (250ms; at most 60s, and 3s when guardd ends)"},
    {"--run-id", "ID",
     "its id, instead of one that is made up: the same command with the\n"
     "same id again runs nothing, and tells how the first one ended"},
    {"--no-stdin", "", "standard input is empty; in a loop that reads lines (-n)"},
    {"--json", "", "print events as JSON Lines on standard output"},
    {"--verbose", "", "print the whole report (-v)"},
    {"--socket", "PATH", "guardd's socket"},
    {"--help", "", "print this (-h)"},
};
constexpr FlagRow kCheckTable[] = {
    {"--json", "", "print the report as JSON"},
    {"--verbose", "", "print the whole report (-v)"},
    {"--socket", "PATH", "guardd's socket"},
    {"--help", "", "print this (-h)"},
};
constexpr ShortFlag kShort[] = {{"-n", "--no-stdin"}, {"-v", "--verbose"}, {"-h", "--help"}};

// Flags of xenarch-guard, and of `run` where `check` has no use for them.
constexpr std::string_view kIsQuiet = "it says nothing of its own accord; -v asks for the report";
constexpr std::string_view kNoTerminal =
    "the command gets pipes here, no terminal; xenarch-guard has --allow-tty-modes";
constexpr std::string_view kList = "xenarch-guard --list-syscalls prints them";
constexpr std::string_view kVersionVerb = "guardctl version prints it";
constexpr std::string_view kNotInReport = "guardctl run has it; the report does not depend on it";
constexpr sandbox::FlagElsewhere kRunElsewhere[] = {
    {"--check", "guardctl check prints the report and runs nothing"},
    {"--quiet", kIsQuiet},
    {"-q", kIsQuiet},
    {"--json-report", "with --json the event `started` has the report"},
    {"--allow-tty-modes", kNoTerminal},
    {"--list-syscalls", kList},
    {"--version", kVersionVerb},
};
constexpr sandbox::FlagElsewhere kCheckElsewhere[] = {
    {"--run-id", kNotInReport},         {"--timeout", kNotInReport}, {"--grace", kNotInReport},
    {"--no-stdin", kNotInReport},       {"-n", kNotInReport},        {"--json-report", "--json"},
    {"--allow-tty-modes", kNoTerminal}, {"--list-syscalls", kList},  {"--version", kVersionVerb},
};

FlagTables flag_tables(RunVerb verb) {
  FlagTables tables{run_flag_table(verb), kShort, sandbox::policy_flag_table(), kRunElsewhere};
  if (verb == RunVerb::kCheck) tables.elsewhere = kCheckElsewhere;
  return tables;
}

// The last of a flag's values is not taken in silence.
Result<> note_given(std::string_view flag, RunVerb verb, std::vector<std::string_view>& given) {
  if (sandbox::find_flag(run_flag_table(verb), flag)->argument.empty()) return {};
  if (std::ranges::find(given, flag) != given.end()) return sandbox::given_twice(flag);
  given.push_back(flag);
  return {};
}

template <class T>
Result<T> of_flag(std::string_view flag, Result<T> value) {
  if (value) return value;
  return std::unexpected(std::move(value).error().within(flag));
}

Result<> apply(const GivenFlag& flag, RunOptions& options) {
  if (flag.name == "--timeout") {
    GUARD_ASSIGN(options.timeout, of_flag(flag.name, parse_duration_limit(flag.value)));
  } else if (flag.name == "--grace") {
    GUARD_ASSIGN(options.grace, of_flag(flag.name, parse_duration(flag.value)));
    if (options.grace > run::kMaxGrace) {
      return failure(Errc::kInvalid, "--grace: '" + std::string(flag.value) + "' is too long",
                     "at most " + duration_text(run::kMaxGrace));
    }
  } else if (flag.name == "--socket") {
    if (flag.value.empty()) {
      return failure(Errc::kInvalid, "--socket '' is empty", "give an absolute path");
    }
    options.socket = std::string(flag.value);
  } else if (flag.name == "--run-id") {
    if (!run::is_run_id(flag.value)) {
      return failure(Errc::kInvalid, "--run-id '" + visible(flag.value) + "' is no run id",
                     "letters, digits, '.', '_' and '-', at most 128, a letter or digit first");
    }
    options.run_id = std::string(flag.value);
  } else if (flag.name == "--no-stdin") {
    options.relay_stdin = false;
  } else if (flag.name == "--json") {
    options.json = true;
  } else if (flag.name == "--verbose") {
    options.verbose = true;
  } else if (flag.name == "--help") {
    options.help = true;
  }
  return {};
}

Result<> check_command(RunVerb verb, const RunOptions& options, bool has_separator) {
  if (verb == RunVerb::kRun && options.command.empty()) {
    return failure(Errc::kInvalid, has_separator ? "nothing comes after --" : "there is no command",
                   "as in: guardctl run --allow-write ./workspace -- python3 agent.py");
  }
  return {};
}

// HOME, TMPDIR and PATH that were chosen by name are not guardd's to set.
std::vector<std::string> chosen_names(const sandbox::EnvRequest& request) {
  std::vector<std::string> names;
  for (const sandbox::EnvChoice& choice : request.choices) {
    if (std::ranges::find(names, choice.name) == names.end()) names.push_back(choice.name);
  }
  return names;
}

void put_environment(const sandbox::Environment& environment, run::Spec& spec) {
  for (const std::string& variable : environment.variables) {
    const std::size_t equals = variable.find('=');
    spec.env.push_back({variable.substr(0, equals), variable.substr(equals + 1)});
  }
  spec.env_withheld = environment.withheld;
}

// The grant on the working directory travels apart from the others: guardd has to know it as one.
std::string take_cwd_grant(sandbox::Policy& policy) {
  const auto grant =
      std::ranges::find(policy.paths, sandbox::Origin::kCwd, &sandbox::PathGrant::origin);
  if (grant == policy.paths.end()) return {};
  std::string path = std::move(grant->path);
  policy.paths.erase(grant);
  return path;
}

}  // namespace

std::span<const FlagRow> run_flag_table(RunVerb verb) {
  if (verb == RunVerb::kCheck) return kCheckTable;
  return kRunTable;
}

Result<RunOptions> parse_run_options(RunVerb verb, std::span<const std::string> arguments,
                                     const std::string& cwd) {
  RunOptions options;
  sandbox::PolicyFlags policy(cwd);
  std::vector<std::string_view> given;
  bool has_separator = false;
  for (std::size_t index = 0; index < arguments.size();) {
    if (arguments[index] == "--") {
      has_separator = true;
      const auto rest = arguments.subspan(index + 1);
      options.command.assign(rest.begin(), rest.end());
      break;
    }
    GUARD_ASSIGN(const bool is_policy, policy.consume(arguments, index));
    if (is_policy) continue;
    GUARD_ASSIGN(const GivenFlag flag, take_flag(arguments, index, flag_tables(verb)));
    GUARD_TRY(note_given(flag.name, verb, given));
    GUARD_TRY(apply(flag, options));
    if (options.help) return options;
  }
  GUARD_ASSIGN(options.request, policy.finish());
  GUARD_TRY(check_command(verb, options, has_separator));
  return options;
}

Result<RunPlan> plan_run(const RunOptions& options, const Caller& caller) {
  RunPlan plan;
  sandbox::PolicyRequest request = options.request;
  const std::string& cwd = request.directory.empty() ? caller.cwd : request.directory;
  if (cwd.empty()) {
    return failure(Errc::kInvalid, "the working directory is gone",
                   "cd to one that exists, or --cd");
  }
  const std::string home(sandbox::value_of(caller.environment, "HOME"));
  const std::string note =
      grant_working_directory(request, sandbox::canonical_path(cwd),
                              home.starts_with('/') ? sandbox::canonical_path(home) : "");
  if (!note.empty()) plan.notes.push_back(note);
  const sandbox::Environment environment = build_environment(caller.environment, request.env);
  for (const std::string& name : environment.not_set) {
    plan.notes.push_back("--env " + name + " is not set here");
  }

  run::Spec& spec = plan.spec;
  spec.run_id = options.run_id.empty() ? new_run_id() : options.run_id;
  spec.argv = options.command;
  put_environment(environment, spec);
  spec.keep_env = chosen_names(request.env);
  spec.cwd = cwd;
  spec.cwd_grant = take_cwd_grant(request.policy);
  spec.policy = std::move(request.policy);
  spec.policy.limits.wall = options.timeout;
  spec.grace = options.grace;
  spec.umask = static_cast<mode_t>(caller.umask);
  if (!spec.argv.empty()) GUARD_TRY(run::validate(spec));
  return plan;
}

}  // namespace guard::client
