// Exit codes of `run` and of xenarch-guard (docs/exit_codes.md).
#pragma once

#include "common/base/result.h"
#include "common/run/result.h"

namespace guard::run {

inline constexpr int kExitTimeout = 124;
inline constexpr int kExitGuardFailed =
    125;  // bad usage, or guard's own failure; nothing ran, or the run was lost
inline constexpr int kExitNotExecutable = 126;  // found, but not executable or not granted
inline constexpr int kExitNotFound = 127;

// The child's own; 128+n for a signal; 124 timeout; 125..127 for a run that did not start.
int exit_code_for(const RunResult& result);
int exit_code_for(
    const SpawnError& error);  // ENOENT/ENOTDIR on exec: 127; other exec errors: 126; else 125
int exit_code_for(const Error& error);  // 125 always: nothing ran

}  // namespace guard::run
