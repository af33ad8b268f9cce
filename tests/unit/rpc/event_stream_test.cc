#include "client/rpc/event_stream.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <grpcpp/test/mock_stream.h>
#include <gtest/gtest.h>

#include "common/wire/limits.h"
#include "guard/v1/guard_mock.grpc.pb.h"

namespace guard::client {
namespace {

using grpc::Status;
using grpc::StatusCode;
using testing::_;
using testing::DoAll;
using testing::InSequence;
using testing::Return;
using testing::SetArgPointee;

using MockStream = grpc::testing::MockClientReaderWriter<v1::RunInput, v1::RunEvent>;

v1::RunEvent output(const std::string& data) {
  v1::RunEvent event;
  event.set_run_id("r1");
  event.mutable_output()->set_stream(v1::STREAM_STDOUT);
  event.mutable_output()->set_data(data);
  return event;
}

v1::RunEvent finished(std::uint32_t code) {
  v1::RunEvent event;
  event.set_run_id("r1");
  event.mutable_finished()->set_exit_code(code);
  event.mutable_finished()->set_reason(v1::REASON_EXITED);
  return event;
}

class EventStreamTest : public testing::Test {
 protected:
  EventStreamTest() {
    stream_ = new MockStream;  // the call's, as NewStub's would be
    EXPECT_CALL(stub_, RunStreamRaw(_)).WillOnce(Return(stream_));
    EXPECT_CALL(*stream_, Write(_, _)).WillRepeatedly([this](const v1::RunInput& input, auto) {
      written_.push_back(input);
      return write_works_;
    });
    v1::RunRequest request;
    request.set_run_id("r1");
    call_ = std::make_unique<EventStream>(stub_, request);
  }
  // Of every call that is not read to its end.
  void expect_finish(const Status& status = Status::OK) {
    EXPECT_CALL(*stream_, Finish()).WillOnce(Return(status));
  }

  v1::MockGuardStub stub_;
  MockStream* stream_ = nullptr;
  std::vector<v1::RunInput> written_;
  bool write_works_ = true;
  std::unique_ptr<EventStream> call_;
};

TEST_F(EventStreamTest, SendsTheRequestFirst) {
  expect_finish();
  ASSERT_EQ(written_.size(), 1u);
  EXPECT_EQ(written_[0].start().run_id(), "r1");
}

TEST_F(EventStreamTest, GivesTheEventsThenTheEnd) {
  {
    const InSequence in_order;
    EXPECT_CALL(*stream_, Read(_)).WillOnce(DoAll(SetArgPointee<0>(output("hi")), Return(true)));
    EXPECT_CALL(*stream_, Read(_)).WillOnce(DoAll(SetArgPointee<0>(finished(3)), Return(true)));
    EXPECT_CALL(*stream_, Read(_)).WillOnce(Return(false));
    expect_finish();
  }
  auto event = call_->next();
  ASSERT_TRUE(event && *event);
  EXPECT_EQ(std::get<run::Output>((*event)->what).data, "hi");
  event = call_->next();
  ASSERT_TRUE(event && *event);
  EXPECT_TRUE(std::holds_alternative<run::Finished>((*event)->what));
  EXPECT_EQ(call_->next().value(), std::nullopt);
  EXPECT_EQ(call_->next().value(), std::nullopt);
}

TEST_F(EventStreamTest, SkipsEventsOfANewerGuardd) {
  const InSequence in_order;
  EXPECT_CALL(*stream_, Read(_)).WillOnce(DoAll(SetArgPointee<0>(v1::RunEvent()), Return(true)));
  EXPECT_CALL(*stream_, Read(_)).WillOnce(DoAll(SetArgPointee<0>(output("x")), Return(true)));
  expect_finish();
  const auto event = call_->next();
  ASSERT_TRUE(event && *event);
  EXPECT_EQ(std::get<run::Output>((*event)->what).data, "x");
}

TEST_F(EventStreamTest, TellsWhyGuarddRefused) {
  EXPECT_CALL(*stream_, Read(_)).WillOnce(Return(false));
  expect_finish(Status(StatusCode::INVALID_ARGUMENT, "args is empty\nname a program"));
  const auto event = call_->next();
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, Errc::kInvalid);
  EXPECT_EQ(event.error().what, "args is empty");
  EXPECT_EQ(event.error().hint, "name a program");
}

TEST_F(EventStreamTest, CutsInputIntoPiecesThatGuarddTakes) {
  expect_finish();
  const std::string bytes(wire::kMaxStdinBytes * 2 + 1, 'x');
  EXPECT_TRUE(call_->send_stdin(bytes));
  ASSERT_EQ(written_.size(), 4u);
  EXPECT_EQ(written_[1].stdin().size(), wire::kMaxStdinBytes);
  EXPECT_EQ(written_[3].stdin().size(), 1u);
}

TEST_F(EventStreamTest, EndsInputWithoutEndingTheStreamSoThatSignalsMayFollow) {
  expect_finish();
  EXPECT_CALL(*stream_, WritesDone()).Times(0);
  call_->close_stdin();
  EXPECT_TRUE(written_.back().close_stdin());
}

TEST_F(EventStreamTest, StopsSendingInputWhenTheCallIsOver) {
  expect_finish();
  write_works_ = false;
  EXPECT_FALSE(call_->send_stdin("x"));
}

TEST_F(EventStreamTest, SendsSignalsBesideTheStream) {
  expect_finish();
  EXPECT_CALL(stub_, Signal(_, _, _))
      .WillOnce([](grpc::ClientContext*, const v1::SignalRequest& request, v1::SignalReply*) {
        EXPECT_EQ(request.run_id(), "r1");
        EXPECT_EQ(request.signal(), 15);
        return Status::OK;
      });
  EXPECT_TRUE(call_->signal(15));
  EXPECT_EQ(written_.size(), 1u);
}

TEST_F(EventStreamTest, SendsSignalsInTheStreamToAGuarddWithoutTheMethod) {
  expect_finish();
  EXPECT_CALL(stub_, Signal(_, _, _)).WillOnce(Return(Status(StatusCode::UNIMPLEMENTED, "")));
  EXPECT_TRUE(call_->signal(15));
  EXPECT_EQ(written_.back().signal(), 15);
}

}  // namespace
}  // namespace guard::client
