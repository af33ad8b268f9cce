// guard.v1.Guard: the methods as gRPC calls them, on its own threads.
#pragma once

#include <atomic>
#include <chrono>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <grpcpp/grpcpp.h>

#include "daemon/runs/preparation.h"
#include "daemon/runs/runs.h"
#include "guard/v1/guard.grpc.pb.h"

namespace guard::daemon {

class GuardService final : public v1::Guard::CallbackService {
 public:
  // All outlive it.
  GuardService(boost::asio::io_context& loop, boost::asio::thread_pool& workers, Runs& runs,
               const Preparation& preparation)
      : loop_(loop), workers_(workers), runs_(runs), preparation_(preparation) {}

  // Run, RunStream and Wait calls that gRPC is not done with.
  int calls() const { return calls_.load(); }

  grpc::ServerWriteReactor<v1::RunEvent>* Run(grpc::CallbackServerContext* context,
                                              const v1::RunRequest* request) override;
  grpc::ServerBidiReactor<v1::RunInput, v1::RunEvent>* RunStream(
      grpc::CallbackServerContext* context) override;

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const v1::CheckRequest* request, v1::Report* reply) override;
  grpc::ServerUnaryReactor* GetCapabilities(grpc::CallbackServerContext* context,
                                            const v1::GetCapabilitiesRequest* request,
                                            v1::Capabilities* reply) override;

  // To the program's process group; whole_tree is UNIMPLEMENTED.
  grpc::ServerUnaryReactor* Signal(grpc::CallbackServerContext* context,
                                   const v1::SignalRequest* request, v1::SignalReply*) override;

  grpc::ServerUnaryReactor* Wait(grpc::CallbackServerContext* context, const v1::RunRef* request,
                                 v1::RunResult* reply) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context, const v1::RunRef* request,
                                v1::RunInfo* reply) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const v1::ListRequest* request, v1::ListReply* reply) override;

  // UNIMPLEMENTED, in words.
  grpc::ServerWriteReactor<v1::RunEvent>* Attach(grpc::CallbackServerContext* context,
                                                 const v1::AttachRequest* request) override;
  grpc::ServerUnaryReactor* OpenSession(grpc::CallbackServerContext* context,
                                        const v1::OpenSessionRequest*, v1::Session*) override;
  grpc::ServerUnaryReactor* CloseSession(grpc::CallbackServerContext* context,
                                         const v1::SessionRef*, v1::CloseSessionReply*) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest*,
                                         v1::ListSessionsReply*) override;

 private:
  boost::asio::io_context& loop_;
  boost::asio::thread_pool& workers_;
  Runs& runs_;
  const Preparation& preparation_;
  const std::chrono::system_clock::time_point started_at_ = std::chrono::system_clock::now();
  std::atomic<int> calls_ = 0;
};

}  // namespace guard::daemon
