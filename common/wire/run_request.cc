#include "common/wire/run_request.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/utf8.h"
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

// What run::validate() cannot see in the values: lists of which one is wanted, fields that need
// each other.
Result<std::vector<std::string>> argv_from(const v1::RunRequest& request) {
  if (!request.args().empty() && !request.args_bytes().empty()) {
    return invalid("args_bytes", "is given beside args; exactly one is wanted");
  }
  const auto& args = request.args_bytes().empty() ? request.args() : request.args_bytes();
  return std::vector<std::string>(args.begin(), args.end());
}

Result<> read_environment(run::Spec& spec, const v1::RunRequest& request) {
  const auto variables = static_cast<std::size_t>(request.env().size());
  const auto kept = static_cast<std::size_t>(request.keep_env().size());
  if (variables > kMaxEnvVars) {
    return invalid("env", "more than " + std::to_string(kMaxEnvVars) + " variables");
  }
  if (kept > kMaxEnvVars) {
    return invalid("keep_env", "more than " + std::to_string(kMaxEnvVars) + " names");
  }
  for (int i = 0; i < request.env().size(); ++i) {
    const v1::EnvVar& variable = request.env()[i];
    GUARD_TRY(refuse_unknown_fields(element("env", i), variable));
    spec.env.push_back({variable.name(), variable.value()});
  }
  for (int i = 0; i < request.keep_env().size(); ++i) {
    GUARD_TRY(check_env_name(element("keep_env", i), request.keep_env()[i]));
    spec.keep_env.push_back(request.keep_env()[i]);
  }
  spec.env_withheld = request.env_withheld();
  return {};
}

Result<> read_timing_and_mode(run::Spec& spec, const v1::RunRequest& request) {
  if (request.has_grace()) {
    GUARD_ASSIGN(spec.grace, duration_from("grace", request.grace()));
  }
  if (request.has_umask()) {
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
