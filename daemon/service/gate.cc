#include "daemon/service/gate.h"

#include <algorithm>
#include <string_view>

#include "common/os/runtime_dir.h"
#include "daemon/transport/cookie.h"

namespace guard::daemon {
namespace {

using Events = grpc::ServerWriteReactor<v1::RunEvent>;
using Exchange = grpc::ServerBidiReactor<v1::RunInput, v1::RunEvent>;

template <class Reactor>
class Refused final : public Reactor {
 public:
  explicit Refused(grpc::Status status) { this->Finish(std::move(status)); }
  void OnDone() override { delete this; }
};

grpc::Status refusal() {
  return {grpc::StatusCode::UNAUTHENTICATED,
          std::string(os::kCookieKey) +
              ": missing or not this guardd's\nsend what guardd.cookie beside the socket holds"};
}

grpc::ServerUnaryReactor* refused(grpc::CallbackServerContext* context) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(refusal());
  return reactor;
}

}  // namespace

bool Gate::admits(const grpc::CallbackServerContext& context) const {
  if (cookie_.empty()) return true;
  const auto [first, last] = context.client_metadata().equal_range(os::kCookieKey);
  return std::any_of(first, last, [this](const auto& entry) {
    return same_secret({entry.second.data(), entry.second.size()}, cookie_);
  });
}

Events* Gate::Run(grpc::CallbackServerContext* context, const v1::RunRequest* request) {
  if (!admits(*context)) return new Refused<Events>(refusal());
  return service_.Run(context, request);
}

Exchange* Gate::RunStream(grpc::CallbackServerContext* context) {
  if (!admits(*context)) return new Refused<Exchange>(refusal());
  return service_.RunStream(context);
}

Events* Gate::Attach(grpc::CallbackServerContext* context, const v1::AttachRequest* request) {
  if (!admits(*context)) return new Refused<Events>(refusal());
  return service_.Attach(context, request);
}

grpc::ServerUnaryReactor* Gate::Wait(grpc::CallbackServerContext* context,
                                     const v1::RunRef* request, v1::RunResult* reply) {
  if (!admits(*context)) return refused(context);
  return service_.Wait(context, request, reply);
}

grpc::ServerUnaryReactor* Gate::Signal(grpc::CallbackServerContext* context,
                                       const v1::SignalRequest* request, v1::SignalReply* reply) {
  if (!admits(*context)) return refused(context);
  return service_.Signal(context, request, reply);
}

grpc::ServerUnaryReactor* Gate::Get(grpc::CallbackServerContext* context, const v1::RunRef* request,
                                    v1::RunInfo* reply) {
  if (!admits(*context)) return refused(context);
  return service_.Get(context, request, reply);
}

grpc::ServerUnaryReactor* Gate::List(grpc::CallbackServerContext* context,
                                     const v1::ListRequest* request, v1::ListReply* reply) {
  if (!admits(*context)) return refused(context);
  return service_.List(context, request, reply);
}

grpc::ServerUnaryReactor* Gate::Check(grpc::CallbackServerContext* context,
                                      const v1::CheckRequest* request, v1::Report* reply) {
  if (!admits(*context)) return refused(context);
  return service_.Check(context, request, reply);
}

grpc::ServerUnaryReactor* Gate::OpenSession(grpc::CallbackServerContext* context,
                                            const v1::OpenSessionRequest* request,
                                            v1::Session* reply) {
  if (!admits(*context)) return refused(context);
  return service_.OpenSession(context, request, reply);
}

grpc::ServerUnaryReactor* Gate::CloseSession(grpc::CallbackServerContext* context,
                                             const v1::SessionRef* request,
                                             v1::CloseSessionReply* reply) {
  if (!admits(*context)) return refused(context);
  return service_.CloseSession(context, request, reply);
}

grpc::ServerUnaryReactor* Gate::ListSessions(grpc::CallbackServerContext* context,
                                             const v1::ListSessionsRequest* request,
                                             v1::ListSessionsReply* reply) {
  if (!admits(*context)) return refused(context);
  return service_.ListSessions(context, request, reply);
}

grpc::ServerUnaryReactor* Gate::GetCapabilities(grpc::CallbackServerContext* context,
                                                const v1::GetCapabilitiesRequest* request,
                                                v1::Capabilities* reply) {
  if (!admits(*context)) return refused(context);
  return service_.GetCapabilities(context, request, reply);
}

}  // namespace guard::daemon
