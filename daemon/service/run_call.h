// One Run or RunStream call: between gRPC's threads and a run on the loop.
//
// gRPC calls its reactors from its own threads; they post here and do nothing else. Everything in
// this class happens on the loop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <grpcpp/support/status.h>

#include "common/base/result.h"
#include "common/run/spec.h"
#include "common/wire/timestamp.h"
#include "daemon/runs/active_run.h"
#include "daemon/runs/run_record.h"
#include "daemon/runs/runs.h"
#include "guard/v1/run.pb.h"

namespace guard::daemon {

grpc::Status to_grpc(const Error& error);

// The stream of a call as its reactor offers it. Called on the loop; one write at a time.
class EventStream {
 public:
  virtual ~EventStream() = default;
  virtual void write(v1::RunEvent event) = 0;       // then RunCall::on_written()
  virtual void write_last(v1::RunEvent event) = 0;  // with status OK; nothing may follow
  virtual void finish(grpc::Status status) = 0;     // likewise
  virtual void read_input() = 0;                    // then on_input() or on_input_end()
};

// A request as it was understood, and what tells it from another under the same id.
struct ParsedRequest {
  run::Spec spec;
  RequestDigest digest;
};
// Of equal requests in whatever spelling the digest is the same; that of a Run is not that of a
// RunStream. Errors as wire::spec_from().
Result<ParsedRequest> parse(const v1::RunRequest& request, bool with_input);

// Steers a run of its own, or is attached to that of an earlier call with the same request.
class RunCall final : public RunWatcher,
                      public RunFollower,
                      public std::enable_shared_from_this<RunCall> {
 public:
  // `stream` lives until write_last() or finish() was called.
  RunCall(Runs& runs, EventStream& stream, bool with_input)
      : runs_(runs), stream_(&stream), with_input_(with_input) {}

  // Of Run: what the request says, or why it says nothing.
  void start(Result<ParsedRequest> request);

  void on_written(bool ok);
  void on_input(v1::RunInput input);
  void on_input_end();
  void on_cancelled();

  void on_event(run::Event event) override;
  void on_input_wanted() override;

  // Attached.
  void on_started(const RunRecord& record) override;
  void on_finished(const RunRecord& record) override;
  void on_nothing_ran(const Error& why) override;

 private:
  wire::TimePoint time_of(const run::Event& event);
  bool attach(const ParsedRequest& request);
  void on_input_of_attached(const v1::RunInput& input);
  void launched(Result<std::shared_ptr<ActiveRun>> run);
  void on_message(v1::RunInput input);
  void give_input(std::string piece);
  void misused(std::string what);
  void client_gone();
  void end_call(grpc::Status status);

  Runs& runs_;
  EventStream* stream_;  // null: the call is over
  bool with_input_;
  bool start_seen_ = false;
  bool input_ended_ = false;
  bool writing_ = false;
  bool cancelled_ = false;
  std::shared_ptr<ActiveRun> run_;
  std::string attached_to_;          // empty: it is not
  std::optional<v1::RunEvent> end_;  // of the run attached to; waits for the write before it
};

}  // namespace guard::daemon
