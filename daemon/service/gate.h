// Stands before the service: a call without the cookie never reaches it.
//
// Every method is forwarded by name, so one that is added to guard.v1 and forgotten here is
// UNIMPLEMENTED and not open.
#pragma once

#include <string>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "guard/v1/guard.grpc.pb.h"

namespace guard::daemon {

class Gate final : public v1::Guard::CallbackService {
 public:
  // `service` outlives it. `cookie`: empty when calls need none. kCookieKey in runtime_dir.h.
  Gate(v1::Guard::CallbackService& service, std::string cookie)
      : service_(service), cookie_(std::move(cookie)) {}

  grpc::ServerWriteReactor<v1::RunEvent>* Run(grpc::CallbackServerContext* context,
                                              const v1::RunRequest* request) override;
  grpc::ServerBidiReactor<v1::RunInput, v1::RunEvent>* RunStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerWriteReactor<v1::RunEvent>* Attach(grpc::CallbackServerContext* context,
                                                 const v1::AttachRequest* request) override;
  grpc::ServerUnaryReactor* Wait(grpc::CallbackServerContext* context, const v1::RunRef* request,
                                 v1::RunResult* reply) override;
  grpc::ServerUnaryReactor* Signal(grpc::CallbackServerContext* context,
                                   const v1::SignalRequest* request,
                                   v1::SignalReply* reply) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context, const v1::RunRef* request,
                                v1::RunInfo* reply) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const v1::ListRequest* request, v1::ListReply* reply) override;
  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const v1::CheckRequest* request, v1::Report* reply) override;
  grpc::ServerUnaryReactor* OpenSession(grpc::CallbackServerContext* context,
                                        const v1::OpenSessionRequest* request,
                                        v1::Session* reply) override;
  grpc::ServerUnaryReactor* CloseSession(grpc::CallbackServerContext* context,
                                         const v1::SessionRef* request,
                                         v1::CloseSessionReply* reply) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest* request,
                                         v1::ListSessionsReply* reply) override;
  grpc::ServerUnaryReactor* GetCapabilities(grpc::CallbackServerContext* context,
                                            const v1::GetCapabilitiesRequest* request,
                                            v1::Capabilities* reply) override;

 private:
  bool admits(const grpc::CallbackServerContext& context) const;

  v1::Guard::CallbackService& service_;
  std::string cookie_;
};

}  // namespace guard::daemon
