#include "daemon/service/run_call.h"

#include <chrono>
#include <utility>

#include "common/wire/limits.h"
#include "common/wire/report.h"
#include "common/wire/run_event.h"
#include "common/wire/run_request.h"
#include "common/wire/status_code.h"
#include "daemon/service/run_reply.h"

namespace guard::daemon {
namespace {

constexpr int kLastSignal = 64;

}  // namespace

grpc::Status to_grpc(const Error& error) {
  auto [code, message] = wire::to_status(error);
  return {static_cast<grpc::StatusCode>(code), std::move(message)};
}

Result<ParsedRequest> parse(const v1::RunRequest& request, bool with_input) {
  ParsedRequest parsed;
  GUARD_ASSIGN(parsed.spec, wire::spec_from(request));
  if (parsed.spec.run_id.empty()) return parsed;  // nobody can send it again
  parsed.digest = digest_of((with_input ? "RunStream" : "Run") +
                            wire::to_proto(parsed.spec).SerializeAsString());
  return parsed;
}

void RunCall::start(Result<ParsedRequest> request) {
  start_seen_ = true;
  if (stream_ == nullptr) return;  // cancelled already
  if (!request) return end_call(to_grpc(request.error()));
  if (attach(*request)) return;
  runs_.start(std::move(request->spec), request->digest, with_input_, shared_from_this(),
              [self = shared_from_this()](Result<std::shared_ptr<ActiveRun>> run) {
                self->launched(std::move(run));
              });
}

// True: the call has its answer, or will have it.
bool RunCall::attach(const ParsedRequest& request) {
  const std::string& id = request.spec.run_id;
  if (id.empty()) return false;
  attached_to_ = id;
  const auto attached = runs_.attach(id, request.digest, shared_from_this());
  if (!attached) {
    end_call(to_grpc(attached.error()));
    return true;
  }
  if (!*attached) attached_to_.clear();
  if (*attached && with_input_ && stream_ != nullptr) stream_->read_input();
  return *attached;
}

void RunCall::on_started(const RunRecord& record) {
  if (stream_ == nullptr) return;
  run::Started started{record.report.whole(), record.notes, true};
  writing_ = true;
  stream_->write(wire::to_proto({record.info.run_id, std::move(started)}, *record.info.started_at));
}

void RunCall::on_finished(const RunRecord& record) {
  if (stream_ == nullptr) return;
  v1::RunEvent last;
  last.set_run_id(record.info.run_id);
  *last.mutable_finished() = result_of(record);
  if (writing_) {
    end_ = std::move(last);
  } else {
    std::exchange(stream_, nullptr)->write_last(std::move(last));
  }
}

void RunCall::on_nothing_ran(const Error& why) {
  if (stream_ != nullptr) end_call(to_grpc(why));
}

void RunCall::launched(Result<std::shared_ptr<ActiveRun>> run) {
  if (!run) {
    if (stream_ != nullptr) end_call(to_grpc(run.error()));
    return;
  }
  if (stream_ == nullptr) return (*run)->abandon(run::Reason::kCancelled);
  run_ = *std::move(run);
  if (with_input_) stream_->read_input();
}

// As everybody is told who asks later.
wire::TimePoint RunCall::time_of(const run::Event& event) {
  if (std::holds_alternative<run::Output>(event.what)) return {};
  const auto record = runs_.record(event.run_id);
  if (!record) return std::chrono::system_clock::now();
  const run::Info& info = (*record)->info;
  return (info.finished_at ? info.finished_at : info.started_at).value_or(wire::TimePoint());
}

void RunCall::on_event(run::Event event) {
  if (stream_ == nullptr) return;
  const bool is_last = std::holds_alternative<run::Finished>(event.what);
  const auto at = time_of(event);
  auto message = wire::to_proto(std::move(event), at);
  if (!is_last) {
    writing_ = true;
    return stream_->write(std::move(message));
  }
  if (!run_->state().ever_started()) {
    *message.mutable_finished()->mutable_report() = wire::to_proto(run_->state().report());
  }
  std::exchange(stream_, nullptr)->write_last(std::move(message));
  run_.reset();
}

void RunCall::on_written(bool ok) {
  writing_ = false;
  if (cancelled_ || !ok) return client_gone();
  if (end_) return std::exchange(stream_, nullptr)->write_last(*std::move(end_));
  if (run_) run_->event_taken();
}

void RunCall::on_cancelled() {
  if (stream_ == nullptr) return;
  cancelled_ = true;
  client_gone();
}

// Its own run dies at once, without grace; one that it is attached to lives on. The call itself
// ends when no write is outstanding.
void RunCall::client_gone() {
  if (run_) std::exchange(run_, nullptr)->abandon(run::Reason::kCancelled);
  if (stream_ != nullptr && !writing_) end_call(grpc::Status::CANCELLED);
}

void RunCall::end_call(grpc::Status status) {
  std::exchange(stream_, nullptr)->finish(std::move(status));
}

void RunCall::on_input_wanted() {
  if (stream_ != nullptr && !input_ended_) stream_->read_input();
}

void RunCall::on_input(v1::RunInput input) {
  if (stream_ == nullptr) return;
  if (!start_seen_) {
    if (input.has_start()) return start(parse(input.start(), with_input_));
    return end_call({grpc::StatusCode::INVALID_ARGUMENT, "start: is missing; it comes first"});
  }
  if (!attached_to_.empty()) return on_input_of_attached(input);
  if (run_) on_message(std::move(input));
}

// The input of the run is the first call's; what is not a signal is dropped.
void RunCall::on_input_of_attached(const v1::RunInput& input) {
  const bool is_signal = input.input_case() == v1::RunInput::kSignal;
  if (is_signal && input.signal() >= 1 && input.signal() <= kLastSignal) {
    if (const auto run = runs_.find(attached_to_)) run->signal(input.signal());
  }
  stream_->read_input();
}

void RunCall::on_message(v1::RunInput input) {
  switch (input.input_case()) {
    case v1::RunInput::kStdin:
      return give_input(std::move(*input.mutable_stdin()));
    case v1::RunInput::kCloseStdin:
      input_ended_ = true;
      run_->end_input();
      return stream_->read_input();
    case v1::RunInput::kSignal:
      if (input.signal() < 1 || input.signal() > kLastSignal) {
        return misused("signal " + std::to_string(input.signal()) + " is not 1 to 64");
      }
      run_->signal(input.signal());
      return stream_->read_input();
    case v1::RunInput::kResize:
      return misused("resize was sent to a run without a terminal");
    case v1::RunInput::kStart:
      return misused("start was sent twice");
    default:
      return misused("a message was sent that this guardd does not know");
  }
}

void RunCall::give_input(std::string piece) {
  if (input_ended_) return misused("stdin was sent after its end");
  if (piece.size() > wire::kMaxStdinBytes) {
    return misused("stdin was sent " + std::to_string(piece.size()) + " bytes at once; at most " +
                   std::to_string(wire::kMaxStdinBytes));
  }
  run_->give_input(std::move(piece));  // then on_input_wanted()
}

// A run that has begun ends with a result, also when its client talks nonsense.
void RunCall::misused(std::string what) {
  input_ended_ = true;
  run_->stop(run::Reason::kCancelled, ActiveRun::Manner::kAtOnce, std::move(what));
}

void RunCall::on_input_end() {
  if (stream_ == nullptr) return;
  if (!start_seen_) {
    return end_call({grpc::StatusCode::INVALID_ARGUMENT, "start: is missing; it comes first"});
  }
  if (run_ && !input_ended_) run_->end_input();
  input_ended_ = true;
}

}  // namespace guard::daemon
