#include "client/rpc/grpc_client.h"

#include <cstdlib>
#include <utility>

#include <grpc/support/log.h>
#include <grpcpp/create_channel_posix.h>

#include "client/rpc/capabilities.h"
#include "client/rpc/cookie.h"
#include "client/rpc/event_stream.h"
#include "common/os/sys.h"
#include "common/wire/limits.h"
#include "common/wire/policy.h"
#include "common/wire/report.h"
#include "common/wire/run_event.h"
#include "common/wire/run_info.h"
#include "common/wire/run_request.h"

namespace guard::client {

Result<std::unique_ptr<GrpcClient>> GrpcClient::connect(const Endpoint& endpoint) {
  // stderr is the program's; whoever debugs gRPC itself sets its variable.
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
  GUARD_ASSIGN(os::UniqueFd fd, connect_guardd(endpoint));
  GUARD_TRY(os::set_nonblocking(fd.get()));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(wire::kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(wire::kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // no request is ever sent twice
  // Read only now: a guardd that has spoken has made it, when it wants one.
  auto channel = grpc::experimental::CreateCustomInsecureChannelWithInterceptorsFromFd(
      "guardd", fd.release(), arguments, send_cookie(endpoint.socket));
  return std::make_unique<GrpcClient>(v1::Guard::NewStub(channel));
}

Result<std::unique_ptr<RunCall>> GrpcClient::run(const run::Spec& spec) {
  return std::make_unique<EventStream>(*stub_, wire::to_proto(spec));
}

Result<sandbox::Report> GrpcClient::check(const sandbox::Policy& policy,
                                          const std::string& cwd_grant) {
  grpc::ClientContext context;
  v1::CheckRequest request;
  *request.mutable_policy() = wire::to_proto(policy);
  request.set_cwd_grant(cwd_grant);
  v1::Report reply;
  const grpc::Status status = stub_->Check(&context, request, &reply);
  if (!status.ok()) return std::unexpected(error_of(*stub_, status, "Check"));
  return wire::report_from(reply);
}

Result<RunList> GrpcClient::list(bool include_finished) {
  grpc::ClientContext context;
  context.set_deadline(answer_deadline());
  v1::ListRequest request;
  request.set_include_finished(include_finished);
  v1::ListReply reply;
  const grpc::Status status = stub_->List(&context, request, &reply);
  if (!status.ok()) return std::unexpected(error_of(*stub_, status, "List"));
  RunList list{
      .runs = {}, .truncated = reply.truncated(), .live = reply.live(), .kept = reply.kept()};
  for (const v1::RunInfo& message : reply.runs()) {
    GUARD_ASSIGN(run::Info info, wire::info_from(message));
    list.runs.push_back(std::move(info));
  }
  return list;
}

Result<run::RunResult> GrpcClient::wait(const std::string& run_id) {
  grpc::ClientContext context;
  v1::RunRef request;
  request.set_run_id(run_id);
  v1::RunResult reply;
  const grpc::Status status = stub_->Wait(&context, request, &reply);
  if (!status.ok()) return std::unexpected(error_of(*stub_, status, "Wait"));
  return wire::result_from(reply);
}

Result<> GrpcClient::signal(const std::string& run_id, int number) {
  grpc::ClientContext context;
  context.set_deadline(answer_deadline());
  v1::SignalRequest request;
  request.set_run_id(run_id);
  request.set_signal(number);
  v1::SignalReply reply;
  const grpc::Status status = stub_->Signal(&context, request, &reply);
  if (!status.ok()) return std::unexpected(error_of(*stub_, status, "Signal"));
  return {};
}

Result<DaemonFacts> GrpcClient::capabilities() { return ask_capabilities(*stub_); }

}  // namespace guard::client
