#include "client/rpc/cookie.h"

#include <utility>

#include "common/os/runtime_dir.h"
#include "common/os/sys.h"

namespace guard::client {
namespace {

using grpc::experimental::InterceptionHookPoints;

class Sender final : public grpc::experimental::Interceptor {
 public:
  explicit Sender(const std::string& cookie) : cookie_(cookie) {}
  void Intercept(grpc::experimental::InterceptorBatchMethods* call) override {
    if (call->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      call->GetSendInitialMetadata()->emplace(os::kCookieKey, cookie_);
    }
    call->Proceed();
  }

 private:
  const std::string& cookie_;
};

class SenderFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit SenderFactory(std::string cookie) : cookie_(std::move(cookie)) {}
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new Sender(cookie_);
  }

 private:
  std::string cookie_;
};

}  // namespace

std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> send_cookie(
    const std::string& socket) {
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> senders;
  auto cookie = os::read_file(os::cookie_path(socket), os::kCookieDigits);
  // Metadata with other bytes would break the call; without it guardd says what is missing.
  if (!cookie || cookie->find_first_not_of("0123456789abcdef") != std::string::npos) return senders;
  senders.push_back(std::make_unique<SenderFactory>(*std::move(cookie)));
  return senders;
}

}  // namespace guard::client
