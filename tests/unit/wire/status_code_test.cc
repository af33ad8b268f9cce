#include "common/wire/status_code.h"

#include <string>

#include <gmock/gmock.h>

namespace guard::wire {
namespace {

TEST(Status, EveryErrorSurvivesWithItsHint) {
  for (const Errc code :
       {Errc::kInvalid, Errc::kNotFound, Errc::kExists, Errc::kDenied, Errc::kUnsupported,
        Errc::kExhausted, Errc::kUnavailable, Errc::kUnimplemented, Errc::kInternal}) {
    const Error error{code, "what", 0, "hint"};
    const Status status = to_status(error);
    EXPECT_EQ(from_status(status.code, status.message), error);
  }
}

TEST(Status, TheHintIsTheSecondLine) {
  EXPECT_EQ(to_status({Errc::kNotFound, "open", 2, "mkdir"}).message,
            "open: No such file or directory\nmkdir");
  EXPECT_EQ(to_status({Errc::kNotFound, "open", 0, ""}).message, "open");
}

TEST(Status, ALongMessageIsCutBetweenCharacters) {
  std::string text = "x";
  for (int i = 0; i < 5000; ++i) text += "\u00e4";
  const std::string message = to_status({Errc::kInvalid, text, 0, ""}).message;
  EXPECT_LE(message.size(), 2003u);
  EXPECT_TRUE(message.ends_with("\u00e4..."));
}

TEST(Status, CodesThatGuarddNeverSendsAreTold) {
  EXPECT_EQ(from_status(2, "unknown").code, Errc::kInternal);
  EXPECT_EQ(from_status(4, "deadline").code, Errc::kUnavailable);
}

}  // namespace
}  // namespace guard::wire
