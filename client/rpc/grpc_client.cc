#include "client/rpc/grpc_client.h"

#include <cstdlib>
#include <utility>

#include <grpc/support/log.h>
#include <grpcpp/create_channel_posix.h>

#include "client/rpc/event_stream.h"
#include "common/os/sys.h"
#include "common/wire/limits.h"
#include "common/wire/policy.h"
#include "common/wire/report.h"
#include "common/wire/run_request.h"
#include "common/wire/status_code.h"

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
  auto channel = grpc::CreateCustomInsecureChannelFromFd("guardd", fd.release(), arguments);
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
  if (!status.ok()) {
    return std::unexpected(wire::from_status(status.error_code(), status.error_message()));
  }
  return wire::report_from(reply);
}

}  // namespace guard::client
