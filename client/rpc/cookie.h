// Proof of who we are, for a guardd that wants one (on kernels without SO_PEERPIDFD): what the file
// guardd.cookie beside its socket holds, which no run can read, goes along with every call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/support/client_interceptor.h>

namespace guard::client {

// For the channel to the guardd on `socket`; nothing when there is no such file.
std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> send_cookie(
    const std::string& socket);

}  // namespace guard::client
