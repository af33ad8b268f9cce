#include "daemon/service/guard_service.h"

#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include <boost/asio/post.hpp>

#include "common/base/version.h"
#include "common/base/visible.h"
#include "common/run/spec.h"
#include "common/wire/field.h"
#include "common/wire/policy.h"
#include "common/wire/report.h"
#include "common/wire/timestamp.h"
#include "daemon/service/run_call.h"
#include "daemon/service/run_reply.h"
#include "daemon/service/wait_call.h"

namespace guard::daemon {
namespace {

constexpr std::uint32_t kApiMinor = 2;
constexpr std::array kFeatures = {
    "run",  "run_stream",        "signal",    "check", "keep_env", "list", "get",
    "wait", "idempotent_run_id", "reflection"};
constexpr int kLastSignal = 64;
constexpr std::size_t kShownIdBytes = 128;
constexpr int kScopeAbi = 6;  // Landlock ABI that scopes signals

// What a reactor of either kind does the same: writing, and telling the loop.
template <class Reactor>
class CallReactor : public Reactor, public EventStream {
 public:
  CallReactor(boost::asio::io_context& loop, std::atomic<int>& calls, Runs& runs, bool with_input)
      : loop_(loop), calls_(calls), call_(std::make_shared<RunCall>(runs, *this, with_input)) {
    ++calls_;
  }

  void write(v1::RunEvent event) override {
    event_ = std::move(event);
    this->StartWrite(&event_);
  }
  void write_last(v1::RunEvent event) override {
    event_ = std::move(event);
    this->StartWriteAndFinish(&event_, grpc::WriteOptions(), grpc::Status::OK);
  }
  void finish(grpc::Status status) override { this->Finish(std::move(status)); }

  void OnWriteDone(bool ok) override {
    post([ok](RunCall& call) { call.on_written(ok); });
  }
  void OnCancel() override {
    post([](RunCall& call) { call.on_cancelled(); });
  }
  void OnDone() override {
    --calls_;
    delete this;
  }

 protected:
  template <class Action>
  void post(Action action) {
    boost::asio::post(loop_,
                      [call = call_, action = std::move(action)]() mutable { action(*call); });
  }

 private:
  boost::asio::io_context& loop_;
  std::atomic<int>& calls_;
  std::shared_ptr<RunCall> call_;
  v1::RunEvent event_;  // borrowed by gRPC while it is written
};

class RunReactor final : public CallReactor<grpc::ServerWriteReactor<v1::RunEvent>> {
 public:
  RunReactor(boost::asio::io_context& loop, std::atomic<int>& calls, Runs& runs,
             const v1::RunRequest& request)
      : CallReactor(loop, calls, runs, false) {
    post(
        [parsed = parse(request, false)](RunCall& call) mutable { call.start(std::move(parsed)); });
  }
  void read_input() override {}
};

class RunStreamReactor final
    : public CallReactor<grpc::ServerBidiReactor<v1::RunInput, v1::RunEvent>> {
 public:
  RunStreamReactor(boost::asio::io_context& loop, std::atomic<int>& calls, Runs& runs)
      : CallReactor(loop, calls, runs, true) {
    StartRead(&input_);
  }
  void read_input() override { StartRead(&input_); }
  void OnReadDone(bool ok) override {
    if (ok) {
      post([input = std::move(input_)](RunCall& call) mutable { call.on_input(std::move(input)); });
    } else {
      post([](RunCall& call) { call.on_input_end(); });
    }
  }

 private:
  v1::RunInput input_;
};

class RefusedStream final : public grpc::ServerWriteReactor<v1::RunEvent> {
 public:
  explicit RefusedStream(grpc::Status status) { Finish(std::move(status)); }
  void OnDone() override { delete this; }
};

grpc::Status unbuilt(const char* method) {
  return {grpc::StatusCode::UNIMPLEMENTED, std::string(method) +
                                               " is part of guard.v1, but guardd " +
                                               std::string(kVersion) + " does not have it"};
}

grpc::ServerUnaryReactor* finished(grpc::CallbackServerContext* context, grpc::Status status) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(std::move(status));
  return reactor;
}

Result<std::string> id_of(const google::protobuf::Message& request, const std::string& run_id) {
  GUARD_TRY(wire::refuse_unknown_fields("request", request));
  if (!run::is_run_id(run_id)) {
    return wire::invalid("run_id",
                         "'" + visible(run_id.substr(0, kShownIdBytes)) + "' is no run id");
  }
  return run_id;
}

struct Question {
  sandbox::Policy policy;
  std::string cwd_grant;
};

Result<Question> question_from(const v1::CheckRequest& request) {
  GUARD_TRY(wire::refuse_unknown_fields("request", request));
  if (!request.cwd_grant().empty()) GUARD_TRY(wire::check_path("cwd_grant", request.cwd_grant()));
  GUARD_ASSIGN(sandbox::Policy policy, wire::policy_from(request.policy()));
  return Question{std::move(policy), request.cwd_grant()};
}

}  // namespace

grpc::ServerWriteReactor<v1::RunEvent>* GuardService::Run(grpc::CallbackServerContext*,
                                                          const v1::RunRequest* request) {
  return new RunReactor(loop_, calls_, runs_, *request);
}

grpc::ServerBidiReactor<v1::RunInput, v1::RunEvent>* GuardService::RunStream(
    grpc::CallbackServerContext*) {
  return new RunStreamReactor(loop_, calls_, runs_);
}

grpc::ServerUnaryReactor* GuardService::Check(grpc::CallbackServerContext* context,
                                              const v1::CheckRequest* request, v1::Report* reply) {
  auto question = question_from(*request);
  if (!question) return finished(context, to_grpc(question.error()));
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  boost::asio::post(workers_, [this, reactor, reply, question = *std::move(question)]() mutable {
    auto report = preparation_.check(std::move(question.policy), question.cwd_grant);
    if (!report) return reactor->Finish(to_grpc(report.error()));
    *reply = wire::to_proto(*report);
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

grpc::ServerUnaryReactor* GuardService::GetCapabilities(grpc::CallbackServerContext* context,
                                                        const v1::GetCapabilitiesRequest*,
                                                        v1::Capabilities* reply) {
  const sandbox::KernelSupport& kernel = preparation_.kernel();
  reply->set_version(std::string(kVersion));
  reply->set_api_minor(kApiMinor);
  for (const char* const feature : kFeatures) reply->add_features(feature);
  reply->set_landlock_abi(kernel.landlock_abi);
  reply->set_landlock_abi_kernel(kernel.landlock_abi_kernel);
  reply->set_kernel(kernel.release);
  reply->set_pid(::getpid());
  reply->set_tree_kill(kernel.landlock_abi >= kScopeAbi ? "landlock scope" : "sweep");
  *reply->mutable_started_at() = wire::to_timestamp(started_at_);
  return finished(context, grpc::Status::OK);
}

grpc::ServerUnaryReactor* GuardService::Signal(grpc::CallbackServerContext* context,
                                               const v1::SignalRequest* request, v1::SignalReply*) {
  const int number = request->signal();
  if (number < 1 || number > kLastSignal) {
    return finished(context, {grpc::StatusCode::INVALID_ARGUMENT,
                              "signal: " + std::to_string(number) + " is not 1 to 64"});
  }
  auto id = id_of(*request, request->run_id());
  if (!id) return finished(context, to_grpc(id.error()));
  if (request->whole_tree()) return finished(context, unbuilt("Signal to a whole tree"));
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  boost::asio::post(loop_, [this, reactor, number, id = *std::move(id)] {
    if (const std::shared_ptr<ActiveRun> run = runs_.find(id)) {
      run->signal(number);
      return reactor->Finish(grpc::Status::OK);
    }
    const auto record = runs_.record(id);
    if (!record) return reactor->Finish(to_grpc(record.error()));
    const bool ended = (*record)->info.state == run::State::kFinished;
    reactor->Finish({grpc::StatusCode::NOT_FOUND, "run_id '" + id + "': the run has " +
                                                      (ended ? "ended" : "not been launched yet")});
  });
  return reactor;
}

grpc::ServerUnaryReactor* GuardService::Wait(grpc::CallbackServerContext* context,
                                             const v1::RunRef* request, v1::RunResult* reply) {
  auto id = id_of(*request, request->run_id());
  if (!id) return finished(context, to_grpc(id.error()));
  return new WaitReactor(loop_, calls_, runs_, *std::move(id), reply);
}

grpc::ServerUnaryReactor* GuardService::Get(grpc::CallbackServerContext* context,
                                            const v1::RunRef* request, v1::RunInfo* reply) {
  auto id = id_of(*request, request->run_id());
  if (!id) return finished(context, to_grpc(id.error()));
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  boost::asio::post(loop_, [this, reactor, reply, id = *std::move(id)] {
    const auto record = runs_.record(id);
    if (!record) return reactor->Finish(to_grpc(record.error()));
    *reply = info_of(**record);
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

grpc::ServerUnaryReactor* GuardService::List(grpc::CallbackServerContext* context,
                                             const v1::ListRequest* request, v1::ListReply* reply) {
  if (const auto known = wire::refuse_unknown_fields("request", *request); !known) {
    return finished(context, to_grpc(known.error()));
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  boost::asio::post(loop_, [this, reactor, reply, all = request->include_finished()] {
    *reply = list_of(runs_.living(), runs_.kept(), all);
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

grpc::ServerWriteReactor<v1::RunEvent>* GuardService::Attach(grpc::CallbackServerContext*,
                                                             const v1::AttachRequest*) {
  return new RefusedStream(unbuilt("Attach"));
}

grpc::ServerUnaryReactor* GuardService::OpenSession(grpc::CallbackServerContext* context,
                                                    const v1::OpenSessionRequest*, v1::Session*) {
  return finished(context, unbuilt("OpenSession"));
}

grpc::ServerUnaryReactor* GuardService::CloseSession(grpc::CallbackServerContext* context,
                                                     const v1::SessionRef*,
                                                     v1::CloseSessionReply*) {
  return finished(context, unbuilt("CloseSession"));
}

grpc::ServerUnaryReactor* GuardService::ListSessions(grpc::CallbackServerContext* context,
                                                     const v1::ListSessionsRequest*,
                                                     v1::ListSessionsReply*) {
  return finished(context, unbuilt("ListSessions"));
}

}  // namespace guard::daemon
