#include "common/wire/run_event.h"

#include <string>

#include <gmock/gmock.h>

#include "common/wire/report.h"

namespace guard::wire {
namespace {

using ::testing::HasSubstr;

const TimePoint kAt = TimePoint(std::chrono::milliseconds(1'700'000'000'250));

run::RunResult some_result() {
  run::RunResult result;
  result.ending = run::Signaled{15};
  result.reason = run::Reason::kTimeout;
  result.usage = {.wall = std::chrono::microseconds(1'500'001),
                  .user = std::chrono::microseconds(2),
                  .system = std::chrono::microseconds(3),
                  .max_rss_bytes = 4096};
  result.streams = {{run::Stream::kStdout, 10, true}, {run::Stream::kStderr, 0, false}};
  result.killed = 3;
  result.stragglers = 1;
  result.discarded = {"home/.npm", "tmp/\xff"};
  result.detail = "why";
  return result;
}

sandbox::Report some_report() {
  sandbox::Report report;
  report.level = sandbox::Level::kBestEffort;
  report.landlock_abi = 2;
  report.landlock_abi_kernel = 7;
  report.kernel = "6.1.0";
  report.protections = {{sandbox::Protection::kNoNewPrivs, sandbox::Status::kEnforced, "prctl", ""},
                        {sandbox::Protection::kTreeKill, sandbox::Status::kWeakened, "sweep", "x"},
                        {sandbox::Protection::kSignals, sandbox::Status::kMissing, "", "y"},
                        {sandbox::Protection::kNetwork, sandbox::Status::kNotAsked, "", ""}};
  report.grants = {{"/a\xff", "/b", sandbox::Access::kWrite, sandbox::Origin::kPrivate,
                    "read write", true, "note"}};
  report.connect_ports = {443};
  report.bind_ports = {0};
  report.ungoverned = {"u"};
  report.warnings = {"w"};
  report.env_passed = 4;
  report.env_withheld = 5;
  report.private_home = "/var/tmp/h";
  return report;
}

run::Event back(run::Event event) {
  auto read = event_from(to_proto(std::move(event), kAt));
  EXPECT_TRUE(read);
  EXPECT_TRUE(read->has_value());
  return **std::move(read);
}

TEST(Event, StartedSurvivesTheWire) {
  const run::Event event = back({"id", run::Started{some_report(), {"note"}}});
  EXPECT_EQ(event.run_id, "id");
  const auto& started = std::get<run::Started>(event.what);
  EXPECT_EQ(started.report, some_report());
  EXPECT_EQ(started.notes, std::vector<std::string>{"note"});
}

TEST(Event, StartedIsDatedAndCarriesTheId) {
  const v1::RunEvent message = to_proto({"id", run::Started{}}, kAt);
  EXPECT_EQ(message.started().run_id(), "id");
  EXPECT_EQ(message.started().at().seconds(), 1'700'000'000);
  EXPECT_EQ(message.started().at().nanos(), 250'000'000);
}

TEST(Event, OutputSurvivesTheWire) {
  const std::string data("\0\xff\n", 3);
  const run::Event event = back({"id", run::Output{run::Stream::kStderr, 1ull << 40, data}});
  const auto& output = std::get<run::Output>(event.what);
  EXPECT_EQ(output.stream, run::Stream::kStderr);
  EXPECT_EQ(output.offset, 1ull << 40);
  EXPECT_EQ(output.data, data);
}

TEST(Event, FinishedSurvivesTheWire) {
  const run::Event event = back({"id", run::Finished{some_result()}});
  EXPECT_EQ(std::get<run::Finished>(event.what).result, some_result());
}

TEST(Event, OneThatOnlyANewerDaemonSendsIsSkipped) {
  v1::RunEvent message;
  message.mutable_denied()->set_what("connect");
  auto read = event_from(message);
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
  read = event_from(v1::RunEvent());
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
}

TEST(Event, AnUnknownStreamIsAnError) {
  v1::RunEvent message;
  message.mutable_output()->set_stream(static_cast<v1::Stream>(9));
  const auto read = event_from(message);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "output.stream: unknown value 9");
}

TEST(Result, EveryReasonAndEndingSurvivesTheWire) {
  for (int i = 0; i <= static_cast<int>(run::Reason::kDaemonShutdown); ++i) {
    run::RunResult result = some_result();
    result.reason = static_cast<run::Reason>(i);
    result.ending = run::Exited{i};
    EXPECT_EQ(result_from(to_proto(result, kAt)), result);
  }
  run::RunResult result = some_result();
  for (int i = 0; i <= static_cast<int>(sandbox::Stage::kExec); ++i) {
    result.ending = run::SpawnError{static_cast<sandbox::Stage>(i), 2, "/x\xff", "m", "h"};
    EXPECT_EQ(result_from(to_proto(result, kAt)), result);
  }
}

TEST(Result, SpawnErrorsCarryTheirExitCode) {
  run::RunResult result;
  result.ending = run::SpawnError{sandbox::Stage::kExec, 2, "/x", "m", "h"};
  EXPECT_EQ(to_proto(result, kAt).spawn_error().exit_code(), 127u);
  EXPECT_EQ(to_proto(result, kAt).spawn_error().stage(), "exec");
}

TEST(Result, CarriesTheReportOnlyWhenAsked) {
  const sandbox::Report report = some_report();
  EXPECT_FALSE(to_proto(some_result(), kAt).has_report());
  EXPECT_EQ(report_from(to_proto(some_result(), kAt, &report).report()), report);
}

TEST(Result, NoExitCodeIsEverInvented) {
  v1::RunResult message;
  message.set_reason(v1::REASON_EXITED);
  EXPECT_FALSE(result_from(message));
  message.set_exit_code(256);
  EXPECT_FALSE(result_from(message));
  message.set_signal(0);
  EXPECT_FALSE(result_from(message));
}

TEST(Result, AReasonOfANewerDaemonIsToldByTheEnding) {
  v1::RunResult message;
  message.set_signal(9);
  message.set_reason(static_cast<v1::Reason>(99));
  const auto result = result_from(message);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, run::Reason::kSignaled);
  EXPECT_THAT(result->detail, HasSubstr("99"));
}

TEST(Report, TextThatIsNotUtf8IsMadeVisibleSoThatTheMessageCanBeRead) {
  sandbox::Report report = some_report();
  report.warnings = {"a \xff b"};
  v1::Report read;
  ASSERT_TRUE(read.ParseFromString(to_proto(report).SerializeAsString()));
  EXPECT_EQ(read.warnings(0), "a \\xff b");
}

TEST(Report, ProtectionsOfANewerDaemonAreSkippedButNothingElseIs) {
  v1::Report message;
  message.add_protections()->set_name("telepathy");
  auto report = report_from(message);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->protections.empty());
  v1::Protection* const known = message.add_protections();
  known->set_name("network");
  known->set_status(static_cast<v1::Status>(9));
  report = report_from(message);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().what, "report.protections[1].status: unknown value 9");
}

}  // namespace
}  // namespace guard::wire
