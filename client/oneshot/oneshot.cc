#include "client/oneshot/oneshot.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "client/oneshot/help.h"
#include "client/oneshot/messages.h"
#include "client/oneshot/options.h"
#include "client/oneshot/private_folders.h"
#include "client/oneshot/program.h"
#include "client/oneshot/standard_streams.h"
#include "common/base/version.h"
#include "common/os/descriptors.h"
#include "common/run/exit_code.h"
#include "common/run/granted.h"
#include "common/run/spec.h"
#include "common/sandbox/compile.h"
#include "common/sandbox/enforce.h"
#include "common/sandbox/path_text.h"
#include "common/sandbox/report_json.h"
#include "common/sandbox/report_text.h"
#include "common/sandbox/shared_memory.h"

namespace guard::client {
namespace {

using sandbox::Compiled;
using sandbox::Policy;

// Every grant is a descriptor until the ruleset is built; a wide read grant may be thousands.
class ManyDescriptors {
 public:
  ManyDescriptors() {
    if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
    const rlimit all{before_.rlim_max, before_.rlim_max};
    raised_ = ::setrlimit(RLIMIT_NOFILE, &all) == 0;
  }
  ~ManyDescriptors() {
    if (raised_) ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  ManyDescriptors(const ManyDescriptors&) = delete;
  ManyDescriptors& operator=(const ManyDescriptors&) = delete;

 private:
  rlimit before_{};
  bool raised_ = false;
};

struct Prepared {
  Compiled compiled;
  sandbox::Staged staged;
  sandbox::Environment environment;
  std::optional<os::ScratchRoot> root;
};

std::string working_directory() {
  const std::unique_ptr<char, void (*)(void*)> path(::getcwd(nullptr, 0), &std::free);
  // "(unreachable)/…" outside of our root, getcwd(3).
  return path && *path == '/' ? std::string(path.get()) : std::string();
}

Result<> check_size(const Options& options, const sandbox::Environment& environment) {
  run::Spec spec;
  spec.argv = options.command;
  for (const std::string& variable : environment.variables) {
    const std::size_t equals = variable.find('=');
    spec.env.push_back({variable.substr(0, equals), variable.substr(equals + 1)});
  }
  return run::validate(spec);
}

// The folders of the run, and what they change in the policy and the environment.
Result<> give_home(const Options& options, const std::optional<os::ScratchRoot>& root,
                   Policy& policy, sandbox::EnvRequest& env) {
  if (!policy.default_grants || !root) return {};
  if (options.verb == Verb::kCheck) {
    // Made at start, and not for a look: named as they would be.
    env.private_tmp = root->path() + "/run-*/tmp";
    if (!policy.real_home) env.private_home = root->path() + "/run-*/home";
    return {};
  }
  GUARD_ASSIGN(const RunHome home, make_run_home(*root, policy));
  env.private_home = home.home;
  env.private_tmp = home.tmp;
  if (const std::string shim = sandbox::find_shared_memory_shim(); !shim.empty()) {
    env.shared_memory_shim = shim;
    policy.paths.push_back(sandbox::shared_memory_grant(shim));
  }
  return {};
}

Result<Prepared> prepare(Options options, const std::vector<std::string>& caller_environment) {
  const ManyDescriptors many;
  sandbox::PolicyRequest& request = options.request;
  if (!request.directory.empty() && ::chdir(request.directory.c_str()) != 0) {
    return os_failure("--cd '" + request.directory + "'");
  }
  const std::string home(sandbox::value_of(caller_environment, "HOME"));
  const std::string note = grant_working_directory(
      request, working_directory(), home.starts_with('/') ? sandbox::canonical_path(home) : "");
  PrivateFolders folders;
  if (request.policy.level != sandbox::Level::kUnsafeNoGuard) {
    GUARD_ASSIGN(folders, find_private_folders(request.policy));
  }
  GUARD_TRY(give_home(options, folders.root, request.policy, request.env));

  Prepared prepared;
  prepared.environment = build_environment(caller_environment, request.env);
  if (options.verb == Verb::kRun) GUARD_TRY(check_size(options, prepared.environment));
  GUARD_ASSIGN(const sandbox::KernelSupport kernel, sandbox::probe());
  GUARD_ASSIGN(const sandbox::ResolvedPolicy resolved,
               sandbox::resolve(request.policy, {std::move(folders.protected_folders)}));
  GUARD_ASSIGN(prepared.compiled, sandbox::compile(resolved, kernel, sandbox::Supervision::kNone));
  GUARD_ASSIGN(prepared.staged, sandbox::stage(prepared.compiled.plan, resolved));
  prepared.root = std::move(folders.root);

  sandbox::Report& report = prepared.compiled.report;
  if (!note.empty()) report.warnings.push_back(note);
  for (const std::string& name : prepared.environment.not_set) {
    report.warnings.push_back("--env " + name + " is not set here");
  }
  for (std::string& link : run::links_that_lead_out(options.command, working_directory(), report)) {
    report.warnings.push_back(std::move(link));
  }
  report.env_passed = prepared.environment.passed;
  report.env_withheld = prepared.environment.withheld;
  report.private_home = request.env.private_home;
  return prepared;
}

Result<> show_report(const Options& options, const sandbox::Report& report) {
  if (!options.quiet || !report.confined()) {
    const int to = options.verb == Verb::kCheck ? STDOUT_FILENO : STDERR_FILENO;
    const bool shown = write_text(to, report_text(report, {std::string(kPrefix), options.verbose}));
    // A closed stderr is the caller's choice, as for any program; the report of --check is its
    // output.
    if (!shown && to == STDOUT_FILENO) return os_failure("stdout");
  }
  if (options.json_report < 0) return {};
  if (!write_text(options.json_report, report_json(report) + "\n")) {
    return os_failure("--json-report " + std::to_string(options.json_report));
  }
  return {};
}

// Nothing inherited above 2 reaches the program, but the report's descriptor until it is written.
Result<> shed_descriptors(int json_report) {
  if (json_report > STDERR_FILENO) {
    if (::fcntl(json_report, F_SETFD, FD_CLOEXEC) != 0) {
      return failure(Errc::kInvalid,
                     "--json-report " + std::to_string(json_report) + " is no open descriptor",
                     "as in: --json-report 3 3>report.json");
    }
  }
  return os::close_all_but({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, json_report});
}

int fail(const Error& error) {
  say_error(error.message(), error.hint);
  return run::exit_code_for(error);
}

int print(const std::string& text) {
  if (write_text(STDOUT_FILENO, text)) return 0;
  say_error(std::string("stdout: ") + std::strerror(errno), {});
  return run::kExitGuardFailed;
}

int list_syscalls(const Options& options) {
  const auto kernel = sandbox::probe();
  if (!kernel) return fail(kernel.error());
  const auto compiled = sandbox::compile({.policy = options.request.policy, .grants = {}}, *kernel,
                                         sandbox::Supervision::kNone);
  if (!compiled) return fail(compiled.error());
  return print(syscall_text(compiled->plan.filter));
}

int check_or_run(const Options& options, const std::vector<std::string>& caller_environment) {
  if (const auto shed = shed_descriptors(options.json_report); !shed) return fail(shed.error());
  const auto prepared = prepare(options, caller_environment);
  if (!prepared) return fail(prepared.error());
  const sandbox::Report& report = prepared->compiled.report;
  if (options.verb == Verb::kCheck) {
    const auto shown = show_report(options, report);
    return shown ? 0 : fail(shown.error());
  }

  if (report.confined()) {
    if (const auto streams = check_standard_streams(); !streams) return fail(streams.error());
    if (!make_terminals_write_only() && options.verbose) {
      say_note("the terminal on stdout or stderr stays readable: it could not be opened again");
    }
  }
  if (const auto shown = show_report(options, report); !shown) return fail(shown.error());

  sandbox::Orders orders = prepared->staged.orders();
  if (prepared->root) {
    orders.canary_dir_fd = prepared->root->fd();
    orders.canary_name = os::ScratchRoot::kCanaryName;
  }
  if (const sandbox::Outcome outcome = sandbox::enforce(orders);
      outcome.stage != sandbox::Stage::kNone) {
    const run::SpawnError error =
        run::explain_spawn(outcome.stage, outcome.error, outcome.axis, {}, &report);
    say_error(error.message, error.hint);
    return run::exit_code_for(error);
  }
  const ExecFailure failed =
      execute({options.command, prepared->environment.variables, options.quiet}, report);
  say_error(failed.error.message, failed.error.hint);
  return failed.exit_code;
}

}  // namespace

int oneshot(const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment) {
  occupy_closed_streams();
  const auto options = parse_options(arguments, working_directory());
  if (!options) return fail(options.error());
  switch (options->verb) {
    case Verb::kHelp:
      return print(help_text());
    case Verb::kVersion:
      return print("xenarch-guard " + std::string(kVersion) + "\n");
    case Verb::kListSyscalls:
      return list_syscalls(*options);
    case Verb::kCheck:
    case Verb::kRun:
      break;
  }
  return check_or_run(*options, environment);
}

}  // namespace guard::client
