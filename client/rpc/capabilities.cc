#include "client/rpc/capabilities.h"

#include <string>

#include "common/base/version.h"
#include "common/wire/status_code.h"
#include "common/wire/timestamp.h"

namespace guard::client {
namespace {

constexpr std::chrono::seconds kAnswerWithin{20};

}  // namespace

std::chrono::system_clock::time_point answer_deadline() {
  return std::chrono::system_clock::now() + kAnswerWithin;
}

Result<DaemonFacts> ask_capabilities(v1::Guard::StubInterface& stub) {
  grpc::ClientContext context;
  context.set_deadline(answer_deadline());
  v1::Capabilities reply;
  const grpc::Status status = stub.GetCapabilities(&context, {}, &reply);
  if (!status.ok()) {
    return std::unexpected(wire::from_status(status.error_code(), status.error_message()));
  }
  DaemonFacts facts{.version = reply.version(),
                    .features = {reply.features().begin(), reply.features().end()},
                    .pid = reply.pid(),
                    .started_at = {},
                    .kernel = reply.kernel(),
                    .landlock_abi = reply.landlock_abi(),
                    .landlock_abi_kernel = reply.landlock_abi_kernel(),
                    .tree_kill = reply.tree_kill()};
  if (reply.has_started_at()) facts.started_at = wire::time_from(reply.started_at());
  return facts;
}

Error error_of(v1::Guard::StubInterface& stub, const grpc::Status& status,
               std::string_view method) {
  Error error = wire::from_status(status.error_code(), status.error_message());
  if (error.code != Errc::kUnimplemented) return error;
  const auto facts = ask_capabilities(stub);
  if (!facts) return error;
  const std::string who = "guardd " + facts->version + " (pid " + std::to_string(facts->pid) + ")";
  const bool without_words = error.what.empty();  // gRPC's own, of a method that it never heard of
  if (without_words) error.what = who + " does not know " + std::string(method);
  if (!without_words && facts->version == kVersion) return error;
  if (!without_words) error.what = who + ": " + error.what;
  error.hint =
      "this is guardctl " + std::string(kVersion) + "; restart guardd: guardctl daemon stop";
  return error;
}

}  // namespace guard::client
