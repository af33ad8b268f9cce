#include "client/rpc/event_stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/rpc/capabilities.h"
#include "common/wire/limits.h"
#include "common/wire/run_event.h"

namespace guard::client {
namespace {

constexpr std::chrono::seconds kSignalWithin{2};

}  // namespace

EventStream::EventStream(v1::Guard::StubInterface& stub, v1::RunRequest request)
    : stub_(stub), run_id_(request.run_id()), stream_(stub.RunStream(&context_)) {
  v1::RunInput input;
  *input.mutable_start() = std::move(request);
  (void)stream_->Write(input);  // when it fails, next() has the status
}

EventStream::~EventStream() {
  if (over_) return;
  // gRPC wants every call finished; a cancelled one finishes at once.
  context_.TryCancel();
  (void)stream_->Finish();
}

Result<std::optional<run::Event>> EventStream::next() {
  while (!over_) {
    v1::RunEvent message;
    if (!stream_->Read(&message)) {
      over_ = true;
      const grpc::Status status = stream_->Finish();
      if (status.ok()) break;
      return std::unexpected(error_of(stub_, status, "RunStream"));
    }
    GUARD_ASSIGN(std::optional<run::Event> event, wire::event_from(std::move(message)));
    if (event) return event;
  }
  return std::optional<run::Event>{};
}

bool EventStream::send_stdin(std::string_view bytes) {
  const std::lock_guard lock(writing_);
  while (!bytes.empty()) {
    if (done_writing_) return false;
    const std::string_view piece = bytes.substr(0, wire::kMaxStdinBytes);
    v1::RunInput input;
    input.set_stdin(std::string(piece));
    if (!stream_->Write(input)) return false;
    bytes.remove_prefix(piece.size());
  }
  return true;
}

void EventStream::close_stdin() {
  const std::lock_guard lock(writing_);
  if (done_writing_) return;
  v1::RunInput input;
  input.set_close_stdin(true);  // not a half-close: signals may follow
  if (!stream_->Write(input)) done_writing_ = true;
}

// Beside the stream first: in it, a signal waits behind the standard input that the program has not
// read yet.
bool EventStream::signal(int number) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kSignalWithin);
  v1::SignalRequest request;
  request.set_run_id(run_id_);
  request.set_signal(number);
  v1::SignalReply reply;
  if (stub_.Signal(&context, request, &reply).ok()) return true;

  // Not there yet, or a guardd without this method.
  const std::unique_lock lock(writing_, std::try_to_lock);
  if (!lock || done_writing_) return false;
  v1::RunInput input;
  input.set_signal(number);
  return stream_->Write(input);
}

void EventStream::cancel() { context_.TryCancel(); }

}  // namespace guard::client
