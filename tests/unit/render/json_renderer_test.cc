#include "client/render/json_renderer.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::client {
namespace {

using run::Finished;
using run::Output;
using run::RunResult;
using run::Stream;
using testing::HasSubstr;
using testing::Not;

TEST(EventJson, SaysOutputAsTextWhenItIsUtf8) {
  EXPECT_EQ(event_json({"r1", Output{Stream::kStdout, 5, "h\xc3\xa4\n\"\x1b"}}),
            "{\"event\":\"output\",\"run_id\":\"r1\",\"stream\":\"stdout\",\"offset\":5,"
            "\"text\":\"h\xc3\xa4\\n\\\"\\u001b\"}");
}

TEST(EventJson, SaysOutputAsBase64WhenItIsNot) {
  EXPECT_EQ(event_json({"r1", Output{Stream::kStderr, 0, "\xff\xfe"}}),
            "{\"event\":\"output\",\"run_id\":\"r1\",\"stream\":\"stderr\",\"offset\":0,"
            "\"base64\":\"//4=\"}");
}

TEST(EventJson, IsOneLine) {
  run::Started started;
  started.notes = {"a\nb"};
  EXPECT_THAT(event_json({"r1", started}), Not(HasSubstr("\n")));
  EXPECT_THAT(event_json({"r1", started}), HasSubstr("\"report\":{\"level\":\"default\""));
  EXPECT_THAT(event_json({"r1", started}), HasSubstr("\"notes\":[\"a\\nb\"]"));
}

TEST(EventJson, HasExactlyOneEnding) {
  RunResult result;
  result.ending = run::Exited{3};
  result.streams = {{Stream::kStdout, 10, false}};
  EXPECT_EQ(event_json({"r1", Finished{result}}),
            "{\"event\":\"finished\",\"run_id\":\"r1\",\"reason\":\"EXITED\",\"exit_code\":3,"
            "\"usage\":{\"wall_us\":0,\"user_us\":0,\"system_us\":0,\"max_rss_bytes\":0},"
            "\"streams\":[{\"stream\":\"stdout\",\"bytes\":10,\"truncated\":false}],"
            "\"killed\":0,\"stragglers\":0,\"discarded\":[],\"detail\":\"\"}");
  result.ending = run::Signaled{9};
  result.reason = run::Reason::kTimeout;
  const std::string signaled = event_json({"r1", Finished{result}});
  EXPECT_THAT(signaled, HasSubstr("\"reason\":\"TIMEOUT\",\"signal\":9,"));
  EXPECT_THAT(signaled, Not(HasSubstr("exit_code")));
}

TEST(EventJson, CarriesTheExitCodeOfAProgramThatDidNotStart) {
  RunResult result;
  result.reason = run::Reason::kSpawnFailed;
  result.ending = run::SpawnError{sandbox::Stage::kExec, EACCES, "/\xff", "no", "do"};
  EXPECT_THAT(event_json({"r1", Finished{result}}),
              HasSubstr("\"spawn_error\":{\"stage\":\"exec\",\"errno\":13,"
                        "\"path_base64\":\"L/8=\",\"message\":\"no\",\"hint\":\"do\","
                        "\"exit_code\":126}"));
}

TEST(EventJson, DoesNotThrowAtWordsThatAreNotUtf8) {
  RunResult result;
  result.detail = "\xff";
  result.discarded = {"home/\xfe"};
  const std::string json = event_json({"r1", Finished{result}});
  EXPECT_THAT(json, HasSubstr("\"detail\":\"\xef\xbf\xbd\""));
  EXPECT_THAT(json, HasSubstr("home/\\\\xfe"));
}

TEST(JsonRendererTest, WritesALineAnEvent) {
  StringSink out;
  JsonRenderer renderer(out);
  ASSERT_TRUE(renderer.show({"r1", Output{Stream::kStdout, 0, "a"}}));
  ASSERT_TRUE(renderer.show({"r1", Output{Stream::kStdout, 1, "b"}}));
  EXPECT_EQ(std::count(out.text.begin(), out.text.end(), '\n'), 2);
  EXPECT_EQ(out.text.back(), '\n');
}

}  // namespace
}  // namespace guard::client
