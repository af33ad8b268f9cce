#include "common/wire/run_event.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "common/run/exit_code.h"
#include "common/wire/field.h"
#include "common/wire/report.h"
#include "common/wire/timestamp.h"

namespace guard::wire {
namespace {

using run::Reason;
using sandbox::Stage;

constexpr std::array<std::pair<Reason, v1::Reason>, 12> kReasons{{
    {Reason::kExited, v1::REASON_EXITED},
    {Reason::kSignaled, v1::REASON_SIGNALED},
    {Reason::kTimeout, v1::REASON_TIMEOUT},
    {Reason::kCancelled, v1::REASON_CANCELLED},
    {Reason::kOutputLimit, v1::REASON_OUTPUT_LIMIT},
    {Reason::kCpuLimit, v1::REASON_CPU_LIMIT},
    {Reason::kMemoryLimit, v1::REASON_MEMORY_LIMIT},
    {Reason::kOomKilled, v1::REASON_OOM_KILLED},
    {Reason::kPolicyViolation, v1::REASON_POLICY_VIOLATION},
    {Reason::kSpawnFailed, v1::REASON_SPAWN_FAILED},
    {Reason::kSupervisorLost, v1::REASON_SUPERVISOR_LOST},
    {Reason::kDaemonShutdown, v1::REASON_DAEMON_SHUTDOWN},
}};

constexpr std::array<std::pair<Stage, std::string_view>, 9> kStages{{
    {Stage::kNone, ""},
    {Stage::kSetup, "setup"},
    {Stage::kLimits, "limits"},
    {Stage::kCapabilities, "capabilities"},
    {Stage::kNoNewPrivs, "no_new_privs"},
    {Stage::kLandlock, "landlock"},
    {Stage::kSeccomp, "seccomp"},
    {Stage::kWitness, "witness"},
    {Stage::kExec, "exec"},
}};

v1::Reason to_proto(Reason reason) {
  for (const auto& [ours, theirs] : kReasons) {
    if (ours == reason) return theirs;
  }
  return v1::REASON_UNSPECIFIED;
}

std::optional<Reason> reason_from(v1::Reason reason) {
  for (const auto& [ours, theirs] : kReasons) {
    if (theirs == reason) return ours;
  }
  return std::nullopt;
}

std::string_view name_of(Stage stage) {
  for (const auto& [value, name] : kStages) {
    if (value == stage) return name;
  }
  return "";
}

Result<Stage> stage_from(std::string_view name) {
  for (const auto& [value, known] : kStages) {
    if (known == name) return value;
  }
  return invalid("finished.spawn_error.stage", "unknown value '" + std::string(name) + "'");
}

v1::Stream to_proto(run::Stream stream) {
  switch (stream) {
    case run::Stream::kStdout:
      return v1::STREAM_STDOUT;
    case run::Stream::kStderr:
      return v1::STREAM_STDERR;
    case run::Stream::kResult:
      return v1::STREAM_RESULT;
  }
  return v1::STREAM_UNSPECIFIED;
}

Result<run::Stream> stream_from(std::string_view field, v1::Stream stream) {
  switch (stream) {
    case v1::STREAM_STDOUT:
      return run::Stream::kStdout;
    case v1::STREAM_STDERR:
      return run::Stream::kStderr;
    case v1::STREAM_RESULT:
      return run::Stream::kResult;
    default:
      return invalid(field, "unknown value " + std::to_string(stream));
  }
}

std::chrono::microseconds micros_from(const google::protobuf::Duration& duration) {
  return std::chrono::seconds(duration.seconds()) +
         std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::nanoseconds(duration.nanos()));
}

v1::SpawnError to_proto(const run::SpawnError& error) {
  v1::SpawnError out;
  out.set_stage(std::string(name_of(error.stage)));
  out.set_os_errno(error.os_errno);
  out.set_path(error.path);
  out.set_message(utf8_text(error.message));
  out.set_hint(utf8_text(error.hint));
  out.set_exit_code(static_cast<std::uint32_t>(run::exit_code_for(error)));
  return out;
}

Result<run::SpawnError> spawn_error_from(const v1::SpawnError& message) {
  run::SpawnError error;
  GUARD_ASSIGN(error.stage, stage_from(message.stage()));
  error.os_errno = message.os_errno();
  error.path = message.path();
  error.message = message.message();
  error.hint = message.hint();
  return error;
}

struct Ending {
  std::variant<run::Exited, run::Signaled, run::SpawnError> how;
  Reason reason;  // when nothing else is known
};

Result<Ending> ending_from(const v1::RunResult& message) {
  switch (message.ending_case()) {
    case v1::RunResult::kExitCode:
      if (message.exit_code() > 255) return invalid("finished.exit_code", "is above 255");
      return Ending{run::Exited{static_cast<int>(message.exit_code())}, Reason::kExited};
    case v1::RunResult::kSignal:
      if (message.signal() < 1 || message.signal() > 64) {
        return invalid("finished.signal", "is not 1 to 64");
      }
      return Ending{run::Signaled{static_cast<int>(message.signal())}, Reason::kSignaled};
    case v1::RunResult::kSpawnError: {
      GUARD_ASSIGN(auto error, spawn_error_from(message.spawn_error()));
      return Ending{std::move(error), Reason::kSpawnFailed};
    }
    default:
      return invalid("finished", "says not how the run ended",
                     "the daemon is newer than the client; use the same release of both");
  }
}

struct EndingWriter {
  v1::RunResult& out;
  void operator()(const run::Exited& exited) const {
    out.set_exit_code(static_cast<std::uint32_t>(exited.code));
  }
  void operator()(const run::Signaled& signaled) const {
    out.set_signal(static_cast<std::uint32_t>(signaled.signal));
  }
  void operator()(const run::SpawnError& error) const {
    *out.mutable_spawn_error() = to_proto(error);
  }
};

struct EventWriter {
  v1::RunEvent& out;
  TimePoint at;
  void operator()(run::Started&& started) const {
    v1::Started* const message = out.mutable_started();
    message->set_run_id(out.run_id());
    *message->mutable_report() = wire::to_proto(started.report);
    *message->mutable_at() = to_timestamp(at);
    for (const auto& note : started.notes) message->add_notes(utf8_text(note));
    message->set_attached(started.attached);
  }
  void operator()(run::Output&& output) const {
    v1::Output* const message = out.mutable_output();
    message->set_stream(to_proto(output.stream));
    message->set_offset(output.offset);
    message->set_data(std::move(output.data));
  }
  void operator()(run::Finished&& finished) const {
    *out.mutable_finished() = wire::to_proto(finished.result, at);
  }
};

}  // namespace

v1::RunEvent to_proto(run::Event event, TimePoint at) {
  v1::RunEvent out;
  out.set_run_id(std::move(event.run_id));
  std::visit(EventWriter{out, at}, std::move(event.what));
  return out;
}

v1::RunResult to_proto(const run::RunResult& result, TimePoint at, const sandbox::Report* report) {
  v1::RunResult out;
  std::visit(EndingWriter{out}, result.ending);
  out.set_reason(to_proto(result.reason));
  *out.mutable_usage()->mutable_wall() = to_duration(result.usage.wall);
  *out.mutable_usage()->mutable_user() = to_duration(result.usage.user);
  *out.mutable_usage()->mutable_system() = to_duration(result.usage.system);
  out.mutable_usage()->set_max_rss_bytes(result.usage.max_rss_bytes);
  for (const auto& total : result.streams) {
    v1::StreamTotal* const message = out.add_streams();
    message->set_stream(to_proto(total.stream));
    message->set_bytes(total.bytes);
    message->set_truncated(total.truncated);
  }
  out.set_killed(result.killed);
  out.set_stragglers(result.stragglers);
  if (report != nullptr) *out.mutable_report() = to_proto(*report);
  *out.mutable_finished_at() = to_timestamp(at);
  for (const auto& name : result.discarded) out.add_discarded(name);
  out.set_detail(utf8_text(result.detail));
  return out;
}

Result<run::RunResult> result_from(const v1::RunResult& message) {
  run::RunResult result;
  GUARD_ASSIGN(Ending ending, ending_from(message));
  result.ending = std::move(ending.how);
  result.detail = message.detail();
  if (const auto reason = reason_from(message.reason())) {
    result.reason = *reason;
  } else {
    result.reason = ending.reason;
    if (!result.detail.empty()) result.detail += "; ";
    result.detail +=
        "for a reason unknown to this client, number " + std::to_string(message.reason());
  }
  result.usage.wall = micros_from(message.usage().wall());
  result.usage.user = micros_from(message.usage().user());
  result.usage.system = micros_from(message.usage().system());
  result.usage.max_rss_bytes = message.usage().max_rss_bytes();
  for (const auto& total : message.streams()) {
    GUARD_ASSIGN(const auto stream, stream_from("finished.streams", total.stream()));
    result.streams.push_back({stream, total.bytes(), total.truncated()});
  }
  result.killed = message.killed();
  result.stragglers = message.stragglers();
  result.discarded.assign(message.discarded().begin(), message.discarded().end());
  return result;
}

Result<std::optional<run::Event>> event_from(v1::RunEvent message) {
  run::Event event;
  event.run_id = std::move(*message.mutable_run_id());
  switch (message.event_case()) {
    case v1::RunEvent::kStarted: {
      run::Started started;
      GUARD_ASSIGN(started.report, report_from(message.started().report()));
      const auto& notes = message.started().notes();
      started.notes.assign(notes.begin(), notes.end());
      started.attached = message.started().attached();
      event.what = std::move(started);
      return event;
    }
    case v1::RunEvent::kOutput: {
      run::Output output;
      GUARD_ASSIGN(output.stream, stream_from("output.stream", message.output().stream()));
      output.offset = message.output().offset();
      output.data = std::move(*message.mutable_output()->mutable_data());
      event.what = std::move(output);
      return event;
    }
    case v1::RunEvent::kFinished: {
      GUARD_ASSIGN(auto result, result_from(message.finished()));
      event.what = run::Finished{std::move(result)};
      return event;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace guard::wire
