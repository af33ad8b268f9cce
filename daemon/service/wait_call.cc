#include "daemon/service/wait_call.h"

#include <utility>

#include <boost/asio/post.hpp>

#include "daemon/service/run_call.h"
#include "daemon/service/run_reply.h"

namespace guard::daemon {

WaitReactor::WaitReactor(boost::asio::io_context& loop, std::atomic<int>& calls, Runs& runs,
                         std::string id, v1::RunResult* reply)
    : loop_(loop), calls_(calls), call_(std::make_shared<Call>(*this, reply)) {
  ++calls_;
  boost::asio::post(loop_, [call = call_, &runs, id = std::move(id)] {
    if (auto followed = runs.follow(id, call); !followed) call->end(to_grpc(followed.error()));
  });
}

void WaitReactor::OnCancel() {
  boost::asio::post(loop_, [call = call_] { call->end(grpc::Status::CANCELLED); });
}

void WaitReactor::OnDone() {
  --calls_;
  delete this;
}

void WaitReactor::Call::on_finished(const RunRecord& record) {
  if (reactor_ == nullptr) return;
  *reply_ = result_of(record);
  end(grpc::Status::OK);
}

void WaitReactor::Call::on_nothing_ran(const Error& why) { end(to_grpc(why)); }

void WaitReactor::Call::end(grpc::Status status) {
  if (reactor_ != nullptr) std::exchange(reactor_, nullptr)->Finish(std::move(status));
}

}  // namespace guard::daemon
