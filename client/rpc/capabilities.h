// What the guardd at the other end can do: asked only when it refused something, so that nothing
// else costs a round trip more.
#pragma once

#include <chrono>
#include <string_view>

#include <grpcpp/support/status.h>

#include "client/rpc/guard_client.h"
#include "common/base/result.h"
#include "guard/v1/guard.grpc.pb.h"

namespace guard::client {

Result<DaemonFacts> ask_capabilities(v1::Guard::StubInterface& stub);

// A status that is not OK as an error. UNIMPLEMENTED: asks who said so, and tells its version, its
// pid and, when it is of another release, how to restart it. `method` is what was called.
Error error_of(v1::Guard::StubInterface& stub, const grpc::Status& status, std::string_view method);

// For a call that is answered at once or not at all.
std::chrono::system_clock::time_point answer_deadline();

}  // namespace guard::client
