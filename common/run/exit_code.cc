#include "common/run/exit_code.h"

namespace guard::run {
namespace {

// The run was not allowed to end by itself, and how the program then died says nothing.
bool is_lost(Reason reason) {
  return reason == Reason::kSupervisorLost || reason == Reason::kDaemonShutdown;
}

}  // namespace

int exit_code_for(const RunResult& result) {
  if (const auto* error = std::get_if<SpawnError>(&result.ending)) return exit_code_for(*error);
  if (is_lost(result.reason)) return kExitGuardFailed;
  if (result.reason == Reason::kTimeout) return kExitTimeout;
  if (const auto* signaled = std::get_if<Signaled>(&result.ending)) return 128 + signaled->signal;
  return std::get<Exited>(result.ending).code;
}

int exit_code_for(const SpawnError& error) {
  if (error.stage != sandbox::Stage::kExec) return kExitGuardFailed;
  const bool not_found = error.os_errno == ENOENT || error.os_errno == ENOTDIR;
  return not_found ? kExitNotFound : kExitNotExecutable;
}

int exit_code_for(const Error&) { return kExitGuardFailed; }

}  // namespace guard::run
