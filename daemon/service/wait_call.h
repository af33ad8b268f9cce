// One Wait: a unary call that is answered at the end of a run. It steers nothing.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <grpcpp/grpcpp.h>

#include "daemon/runs/runs.h"
#include "guard/v1/run.pb.h"

namespace guard::daemon {

// Deletes itself when gRPC is done with it. `reply` is gRPC's, until the call is finished.
class WaitReactor final : public grpc::ServerUnaryReactor {
 public:
  WaitReactor(boost::asio::io_context& loop, std::atomic<int>& calls, Runs& runs, std::string id,
              v1::RunResult* reply);

  void OnCancel() override;
  void OnDone() override;

 private:
  // Everything of it happens on the loop, where the reactor may be gone before it.
  class Call final : public RunFollower {
   public:
    Call(WaitReactor& reactor, v1::RunResult* reply) : reactor_(&reactor), reply_(reply) {}
    void on_started(const RunRecord&) override {}
    void on_finished(const RunRecord& record) override;
    void on_nothing_ran(const Error& why) override;
    void end(grpc::Status status);

   private:
    WaitReactor* reactor_;  // null: answered
    v1::RunResult* reply_;
  };

  boost::asio::io_context& loop_;
  std::atomic<int>& calls_;
  std::shared_ptr<Call> call_;
};

}  // namespace guard::daemon
