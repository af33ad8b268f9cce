#include "common/wire/run_info.h"

#include <string>

#include "common/wire/field.h"
#include "common/wire/run_event.h"
#include "common/wire/timestamp.h"

namespace guard::wire {
namespace {

v1::RunState to_proto(run::State state) {
  switch (state) {
    case run::State::kStarting:
      return v1::RUN_STATE_STARTING;
    case run::State::kRunning:
      return v1::RUN_STATE_RUNNING;
    case run::State::kFinished:
      return v1::RUN_STATE_FINISHED;
  }
  return v1::RUN_STATE_UNSPECIFIED;
}

Result<run::State> state_from(v1::RunState state) {
  switch (state) {
    case v1::RUN_STATE_STARTING:
      return run::State::kStarting;
    case v1::RUN_STATE_RUNNING:
      return run::State::kRunning;
    case v1::RUN_STATE_FINISHED:
      return run::State::kFinished;
    default:
      return invalid("state", "unknown value " + std::to_string(state),
                     "the daemon is newer than the client; use the same release of both");
  }
}

}  // namespace

v1::RunInfo to_proto(const run::Info& info) {
  v1::RunInfo out;
  out.set_run_id(info.run_id);
  out.set_state(to_proto(info.state));
  for (const std::string& arg : info.args) out.add_args(arg);
  out.set_args_truncated(info.args_truncated);
  if (info.started_at) *out.mutable_started_at() = to_timestamp(*info.started_at);
  out.set_pid(info.pid);
  if (info.result) {
    *out.mutable_result() = to_proto(*info.result, info.finished_at.value_or(TimePoint()));
  }
  return out;
}

Result<run::Info> info_from(const v1::RunInfo& message) {
  run::Info info;
  info.run_id = message.run_id();
  GUARD_ASSIGN(info.state, state_from(message.state()));
  info.args.assign(message.args().begin(), message.args().end());
  info.args_truncated = message.args_truncated();
  if (message.has_started_at()) info.started_at = time_from(message.started_at());
  info.pid = message.pid();
  if (message.has_result()) {
    GUARD_ASSIGN(info.result, result_from(message.result()));
    info.finished_at = time_from(message.result().finished_at());
  }
  return info;
}

}  // namespace guard::wire
