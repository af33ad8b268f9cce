// A run over gRPC: the bidirectional RunStream as a RunCall.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <grpcpp/grpcpp.h>

#include "client/rpc/guard_client.h"
#include "guard/v1/guard.grpc.pb.h"

namespace guard::client {

class EventStream final : public RunCall {
 public:
  // Sends `request`. `stub` outlives this.
  EventStream(v1::Guard::StubInterface& stub, v1::RunRequest request);
  ~EventStream() override;

  Result<std::optional<run::Event>> next() override;
  bool send_stdin(std::string_view bytes) override;
  void close_stdin() override;
  bool signal(int number) override;
  void cancel() override;

 private:
  using Stream = grpc::ClientReaderWriterInterface<v1::RunInput, v1::RunEvent>;

  v1::Guard::StubInterface& stub_;
  const std::string run_id_;
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  std::mutex writing_;  // one message at a time; held while a write waits for the program to read
  bool done_writing_ = false;  // under writing_
  bool over_ = false;          // next()'s
};

}  // namespace guard::client
