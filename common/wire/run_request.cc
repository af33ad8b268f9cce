#include "common/wire/run_request.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "common/base/visible.h"
#include "common/wire/field.h"
#include "common/wire/limits.h"
#include "common/wire/policy.h"

namespace guard::wire {
namespace {

Result<> refuse_unbuilt(const v1::RunRequest& request) {
  const auto absent = [](bool given, const char* field) -> Result<> {
    if (!given) return {};
    return unimplemented(field, "this guardd does not have it", "leave it out");
  };
  GUARD_TRY(absent(!request.session_id().empty(), "session_id"));
  GUARD_TRY(absent(request.capture_bytes() != 0, "capture_bytes"));
  GUARD_TRY(absent(request.result_stream(), "result_stream"));
  GUARD_TRY(absent(request.has_pty(), "pty"));
  switch (request.on_disconnect()) {
    case v1::ON_DISCONNECT_UNSPECIFIED:
    case v1::ON_DISCONNECT_KILL:
      return {};
    case v1::ON_DISCONNECT_DETACH:
      return absent(true, "on_disconnect");
    default:
      return invalid("on_disconnect", "unknown value " + std::to_string(request.on_disconnect()));
  }
}

Result<std::vector<std::string>> argv_from(const v1::RunRequest& request) {
  if (!request.args().empty() && !request.args_bytes().empty()) {
    return invalid("args_bytes", "is given beside args; exactly one is wanted");
  }
  const bool is_text = request.args_bytes().empty();
  const char* const field = is_text ? "args" : "args_bytes";
  const auto& args = is_text ? request.args() : request.args_bytes();
  if (args.empty()) return invalid("args", "is empty; the first is the program to run");
  if (static_cast<std::size_t>(args.size()) > run::kMaxArgs) {
    return invalid(field, std::to_string(args.size()) + " arguments; at most " +
                              std::to_string(run::kMaxArgs));
  }
  for (int i = 0; i < args.size(); ++i) {
    if (args[i].find('\0') != std::string::npos) {
      return invalid(element(field, i), "holds a NUL byte");
    }
    if (args[i].size() > run::kMaxArgBytes) {
      return invalid(element(field, i),
                     "is " + std::to_string(args[i].size()) + " bytes; the kernel takes at most " +
                         std::to_string(run::kMaxArgBytes),
                     "pass it through a file or standard input");
    }
  }
  if (args[0].empty()) return invalid(element(field, 0), "the program's name is empty");
  return std::vector<std::string>(args.begin(), args.end());
}

Result<std::vector<run::EnvVar>> env_from(const v1::RunRequest& request) {
  if (static_cast<std::size_t>(request.env().size()) > kMaxEnvVars) {
    return invalid("env", "more than " + std::to_string(kMaxEnvVars) + " variables");
  }
  std::vector<run::EnvVar> env;
  for (int i = 0; i < request.env().size(); ++i) {
    const v1::EnvVar& variable = request.env()[i];
    const std::string field = element("env", i);
    GUARD_TRY(refuse_unknown_fields(field, variable));
    GUARD_TRY(check_env_name(field + ".name", variable.name()));
    if (variable.value().find('\0') != std::string::npos) {
      return invalid(field + ".value", "holds a NUL byte");
    }
    // execve(2) sees "NAME=value" as one string.
    if (variable.name().size() + 1 + variable.value().size() > run::kMaxArgBytes) {
      return invalid(field, "'" + visible(variable.name().substr(0, 64)) + "' is longer than the " +
                                std::to_string(run::kMaxArgBytes) + " bytes that the kernel takes");
    }
    env.push_back({variable.name(), variable.value()});
  }
  return env;
}

// All strings with their NULs, as execve(2) copies them.
std::size_t total_bytes(const run::Spec& spec) {
  std::size_t total = 0;
  for (const auto& arg : spec.argv) total += arg.size() + 1;
  for (const auto& variable : spec.env) total += variable.name.size() + variable.value.size() + 2;
  return total;
}

Result<> read_environment(run::Spec& spec, const v1::RunRequest& request) {
  GUARD_ASSIGN(spec.env, env_from(request));
  for (int i = 0; i < request.keep_env().size(); ++i) {
    GUARD_TRY(check_env_name(element("keep_env", i), request.keep_env()[i]));
  }
  if (static_cast<std::size_t>(request.keep_env().size()) > kMaxEnvVars) {
    return invalid("keep_env", "more than " + std::to_string(kMaxEnvVars) + " names");
  }
  spec.keep_env.assign(request.keep_env().begin(), request.keep_env().end());
  spec.env_withheld = request.env_withheld();
  if (const std::size_t total = total_bytes(spec); total > run::kMaxTotalBytes) {
    return invalid("args",
                   "with the environment " + std::to_string(total) +
                       " bytes; the kernel takes at most " + std::to_string(run::kMaxTotalBytes),
                   "pass it through a file or standard input");
  }
  return {};
}

Result<> read_timing_and_mode(run::Spec& spec, const v1::RunRequest& request) {
  if (request.has_grace()) {
    GUARD_ASSIGN(spec.grace, duration_from("grace", request.grace()));
    if (spec.grace > run::kMaxGrace) {
      return invalid("grace", "is longer than " + duration_text(run::kMaxGrace));
    }
  }
  if (request.has_umask()) {
    if (request.umask() > 0777) return invalid("umask", "is above 0777");
    spec.umask = request.umask();
  } else if (request.umask() != 0) {
    return invalid("umask", "is given without has_umask");
  }
  return {};
}

}  // namespace

Result<run::Spec> spec_from(const v1::RunRequest& request) {
  GUARD_TRY(refuse_unknown_fields("request", request));
  GUARD_TRY(refuse_unbuilt(request));
  run::Spec spec;
  if (!request.run_id().empty() && !run::is_run_id(request.run_id())) {
    return invalid("run_id", "'" + visible(request.run_id().substr(0, 128)) +
                                 "' is not 1 to 128 letters, digits, '.', '_' or '-', the first a "
                                 "letter or digit");
  }
  spec.run_id = request.run_id();
  GUARD_ASSIGN(spec.argv, argv_from(request));
  GUARD_TRY(read_environment(spec, request));
  if (!request.cwd().empty()) {
    GUARD_TRY(check_path("cwd", request.cwd()));
    spec.cwd = request.cwd();
  }
  if (!request.cwd_grant().empty()) {
    GUARD_TRY(check_path("cwd_grant", request.cwd_grant()));
    spec.cwd_grant = request.cwd_grant();
  }
  GUARD_ASSIGN(spec.policy, policy_from(request.policy()));
  GUARD_TRY(read_timing_and_mode(spec, request));
  GUARD_TRY(run::validate(spec));
  return spec;
}

v1::RunRequest to_proto(const run::Spec& spec) {
  v1::RunRequest out;
  out.set_run_id(spec.run_id);
  const bool is_text = std::ranges::all_of(spec.argv, is_utf8);
  for (const auto& arg : spec.argv) {
    if (is_text) {
      out.add_args(arg);
    } else {
      out.add_args_bytes(arg);
    }
  }
  for (const auto& variable : spec.env) {
    v1::EnvVar* const message = out.add_env();
    message->set_name(variable.name);
    message->set_value(variable.value);
  }
  for (const auto& name : spec.keep_env) out.add_keep_env(name);
  out.set_cwd(spec.cwd);
  out.set_cwd_grant(spec.cwd_grant);
  *out.mutable_policy() = to_proto(spec.policy);
  *out.mutable_grace() = to_duration(spec.grace);
  out.set_umask(spec.umask);
  out.set_has_umask(true);
  out.set_env_withheld(spec.env_withheld);
  return out;
}

}  // namespace guard::wire
