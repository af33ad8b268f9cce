// GuardClient over gRPC on a Unix socket.
#pragma once

#include <memory>

#include <grpcpp/grpcpp.h>

#include "client/rpc/connection.h"
#include "client/rpc/guard_client.h"
#include "guard/v1/guard.grpc.pb.h"

namespace guard::client {

class GrpcClient final : public GuardClient {
 public:
  // Connects, and starts guardd when none runs; errors as connect_guardd().
  static Result<std::unique_ptr<GrpcClient>> connect(const Endpoint& endpoint);

  explicit GrpcClient(std::unique_ptr<v1::Guard::StubInterface> stub) : stub_(std::move(stub)) {}

  Result<std::unique_ptr<RunCall>> run(const run::Spec& spec) override;
  Result<sandbox::Report> check(const sandbox::Policy& policy,
                                const std::string& cwd_grant) override;
  Result<RunList> list(bool include_finished) override;
  Result<run::RunResult> wait(const std::string& run_id) override;
  Result<> signal(const std::string& run_id, int number) override;
  Result<DaemonFacts> capabilities() override;

 private:
  std::unique_ptr<v1::Guard::StubInterface> stub_;
};

}  // namespace guard::client
