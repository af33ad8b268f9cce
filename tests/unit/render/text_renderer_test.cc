#include "client/render/text_renderer.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::client {
namespace {

using run::Event;
using run::Exited;
using run::Finished;
using run::Output;
using run::Reason;
using run::RunResult;
using run::Started;
using run::Stream;
using testing::HasSubstr;

class TextRendererTest : public testing::Test {
 protected:
  std::string said(const Event& event, bool verbose = false) {
    TextRenderer renderer(out_, messages_, verbose);
    EXPECT_TRUE(renderer.show(event));
    return std::exchange(err_.text, {});
  }
  static Event finished(RunResult result) { return {"id", Finished{std::move(result)}}; }
  static Event started() {
    Started started;
    started.report.protections.push_back(
        {sandbox::Protection::kSignals, sandbox::Status::kEnforced, "landlock", ""});
    return {"id", started};
  }

  StringSink out_, err_;
  Messages messages_{err_, "guardctl", false};
};

TEST_F(TextRendererTest, PassesTheProgramsBytesOnUnchanged) {
  EXPECT_EQ(said({"id", Output{Stream::kStdout, 0, std::string("a\0\xff", 3)}}), "");
  EXPECT_EQ(out_.text, std::string("a\0\xff", 3));
  EXPECT_EQ(said({"id", Output{Stream::kStderr, 0, "\x1b[1mbold"}}), "\x1b[1mbold");
}

TEST_F(TextRendererTest, SaysNothingAboutARunAsItShouldBe) {
  EXPECT_EQ(said(started()), "");
  RunResult result;
  result.ending = Exited{3};
  EXPECT_EQ(said(finished(result)), "");
  EXPECT_EQ(out_.text, "");
}

TEST_F(TextRendererTest, SaysWhatSigsysIsOfAConfinedRun) {
  TextRenderer renderer(out_, messages_, false);
  RunResult result;
  result.ending = run::Signaled{31};
  result.reason = Reason::kSignaled;
  Event unconfined = started();
  std::get<Started>(unconfined.what).report.level = sandbox::Level::kUnsafeNoGuard;
  for (const auto& [event, told] : {std::pair{started(), true}, std::pair{unconfined, false}}) {
    ASSERT_TRUE(renderer.show(event));
    ASSERT_TRUE(renderer.show(finished(result)));
    EXPECT_EQ(std::exchange(err_.text, {}).find("32-bit") != std::string::npos, told);
  }
}

TEST_F(TextRendererTest, NeverHidesAWeakening) {
  Event event = started();
  auto& report = std::get<Started>(event.what).report;
  report.protections[0].status = sandbox::Status::kWeakened;
  report.protections[0].why = "Landlock ABI 6 has it";
  EXPECT_EQ(said(event), "[guardctl] warning: weakened: signals (Landlock ABI 6 has it)\n");
  report.warnings = {"--allow-write /dev grants every device"};
  EXPECT_THAT(said(event), HasSubstr("warning: --allow-write /dev grants every device\n"));
  report.level = sandbox::Level::kUnsafeNoGuard;
  EXPECT_THAT(said(event), HasSubstr("warning: no sandbox"));
}

TEST_F(TextRendererTest, TellsWhyNothingRanAndWhatHelps) {
  RunResult result;
  result.reason = Reason::kSpawnFailed;
  result.ending =
      run::SpawnError{sandbox::Stage::kExec, ENOENT, "/x", "'/x' does not exist", "mkdir"};
  EXPECT_EQ(said(finished(result)),
            "[guardctl] error: '/x' does not exist\n[guardctl] hint: mkdir\n");
}

TEST_F(TextRendererTest, TellsWhoEndedTheRunWhenItWasNotTheProgram) {
  RunResult result;
  result.ending = run::Signaled{9};
  result.reason = Reason::kTimeout;
  EXPECT_EQ(said(finished(result)), "[guardctl] warning: the time limit passed\n");
  result.reason = Reason::kSupervisorLost;
  result.detail = "pid 7";
  EXPECT_EQ(said(finished(result)),
            "[guardctl] warning: its supervisor died, and the run was killed: pid 7\n");
  result.reason = static_cast<Reason>(99);
  EXPECT_THAT(said(finished(result)), HasSubstr("does not know"));
}

TEST_F(TextRendererTest, CountsWhatOutlivedTheProgram) {
  RunResult result;
  result.killed = 1;
  EXPECT_EQ(said(finished(result)),
            "[guardctl] warning: 1 process outlived the program and was killed\n");
  result.killed = 300;
  result.stragglers = 2;
  EXPECT_EQ(said(finished(result)),
            "[guardctl] warning: 300 processes outlived the program and were killed\n"
            "[guardctl] warning: 2 processes did not end within 5 s of being killed\n");
}

TEST_F(TextRendererTest, TellsThatOutputWasCut) {
  RunResult result;
  result.streams = {{Stream::kStdout, 10, false}, {Stream::kStderr, 20, true}};
  EXPECT_EQ(said(finished(result)),
            "[guardctl] warning: stderr was cut short: 20 bytes were written\n");
}

TEST_F(TextRendererTest, StartsItsOwnLinesOnALineOfTheirOwn) {
  (void)said({"id", Output{Stream::kStderr, 0, "no newline"}});
  RunResult result;
  result.killed = 1;
  EXPECT_THAT(said(finished(result)), testing::StartsWith("\n[guardctl] "));
  (void)said({"id", Output{Stream::kStderr, 0, "newline\n"}});
  EXPECT_THAT(said(finished(result)), testing::StartsWith("[guardctl] "));
}

TEST_F(TextRendererTest, ShowsEverythingWhenVerbose) {
  RunResult result;
  result.ending = Exited{0};
  result.discarded = {"home/.npm", "tmp/a b"};
  result.usage.wall = std::chrono::milliseconds(1'500);
  result.usage.max_rss_bytes = 1 << 20;
  EXPECT_EQ(said(finished(result), true),
            "[guardctl] note: left in the private HOME and TMPDIR, and discarded: home/.npm "
            "'tmp/a b'\n[guardctl] note: EXITED after 1.5s, largest process 1MiB\n");
  EXPECT_THAT(said(started(), true), HasSubstr("[guardctl] network:"));
}

class BrokenSink final : public ByteSink {
 public:
  Result<> write(std::string_view) override { return os_failure("write standard output", EPIPE); }
};

TEST(TextRendererSink, ReportsAReaderThatLeft) {
  BrokenSink out;
  StringSink err;
  Messages messages(err, "guardctl", false);
  TextRenderer renderer(out, messages, false);
  const auto shown = renderer.show({"id", Output{Stream::kStdout, 0, "x"}});
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().os_errno, EPIPE);
}

TEST(MessagesTest, ColourTheLabelOnly) {
  StringSink err;
  Messages(err, "guardctl", true).error("no", "do");
  EXPECT_EQ(err.text, "[guardctl] \x1b[31merror\x1b[0m: no\n[guardctl] \x1b[36mhint\x1b[0m: do\n");
}

TEST(MessagesTest, EscapeWhatATerminalWouldObey) {
  StringSink err;
  Messages(err, "guardctl", false).error("a\x1b[2J\nb", "");
  EXPECT_EQ(err.text, "[guardctl] error: a\\e[2J\\nb\n");
}

}  // namespace
}  // namespace guard::client
