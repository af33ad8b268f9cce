#include "client/rpc/capabilities.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/version.h"
#include "guard/v1/guard_mock.grpc.pb.h"

namespace guard::client {
namespace {

using grpc::Status;
using grpc::StatusCode;
using testing::_;
using testing::DoAll;
using testing::HasSubstr;
using testing::Return;
using testing::SetArgPointee;

class CapabilitiesTest : public testing::Test {
 protected:
  void says(const std::string& version) {
    v1::Capabilities reply;
    reply.set_version(version);
    reply.set_pid(42);
    EXPECT_CALL(stub_, GetCapabilities(_, _, _))
        .WillOnce(DoAll(SetArgPointee<2>(reply), Return(Status::OK)));
  }
  Error unimplemented(const std::string& message) {
    return error_of(stub_, Status(StatusCode::UNIMPLEMENTED, message), "List");
  }
  v1::MockGuardStub stub_;
};

TEST_F(CapabilitiesTest, AnOrdinaryRefusalAsksNothing) {
  EXPECT_CALL(stub_, GetCapabilities(_, _, _)).Times(0);
  const Error error = error_of(stub_, Status(StatusCode::NOT_FOUND, "x\nhint"), "List");
  EXPECT_EQ(error.code, Errc::kNotFound);
  EXPECT_EQ(error.hint, "hint");
}

TEST_F(CapabilitiesTest, AMethodThatIsUnknownIsNamedWithItsDaemon) {
  says("0.0.1");
  const Error error = unimplemented("");
  EXPECT_EQ(error.code, Errc::kUnimplemented);
  EXPECT_EQ(error.what, "guardd 0.0.1 (pid 42) does not know List");
  EXPECT_THAT(error.hint, HasSubstr("guardctl daemon stop"));
}

TEST_F(CapabilitiesTest, WordsOfAnotherReleaseAreKept) {
  says("0.0.1");
  const Error error = unimplemented("pty: this guardd does not have it");
  EXPECT_EQ(error.what, "guardd 0.0.1 (pid 42): pty: this guardd does not have it");
  EXPECT_THAT(error.hint, HasSubstr("guardctl daemon stop"));
}

TEST_F(CapabilitiesTest, AFeatureThatThisReleaseLacksIsNoReasonToRestart) {
  says(std::string(kVersion));
  const Error error = unimplemented("pty: this guardd does not have it\nleave it out");
  EXPECT_EQ(error.what, "pty: this guardd does not have it");
  EXPECT_EQ(error.hint, "leave it out");
}

TEST_F(CapabilitiesTest, ADaemonThatDoesNotAnswerChangesNothing) {
  EXPECT_CALL(stub_, GetCapabilities(_, _, _))
      .WillOnce(Return(Status(StatusCode::UNAVAILABLE, "gone")));
  EXPECT_EQ(unimplemented("words").what, "words");
}

}  // namespace
}  // namespace guard::client
