#include "daemon/service/run_reply.h"

#include <string>

#include <gmock/gmock.h>

#include "common/wire/limits.h"
#include "daemon/service/run_call.h"

namespace guard::daemon {
namespace {

using namespace std::chrono_literals;

RunRecord ended(const std::string& id) {
  RunRecord record;
  record.info.run_id = id;
  record.info.state = run::State::kFinished;
  record.info.finished_at = run::WallTime(1'700'000'000s);
  record.info.result.emplace().ending = run::Exited{3};
  sandbox::Report report;
  report.kernel = "6.1.0";
  record.report = KeptReport(report, {});
  return record;
}

TEST(ResultOf, HasTheReportOnlyWhenNoStartedCarriedIt) {
  RunRecord record = ended("a");
  EXPECT_EQ(result_of(record).report().kernel(), "6.1.0");
  record.info.started_at = record.info.finished_at;
  EXPECT_FALSE(result_of(record).has_report());
  EXPECT_EQ(result_of(record).finished_at().seconds(), 1'700'000'000);
}

TEST(InfoOf, HasTheReportAsSoonAsThereIsOne) {
  EXPECT_EQ(info_of(ended("a")).report().kernel(), "6.1.0");
  EXPECT_FALSE(info_of(RunRecord{}).has_report());
}

TEST(ListOf, CountsAllAndListsWhatWasAskedFor) {
  const RunRecord living;
  const std::vector<Retention::Record> kept{std::make_shared<RunRecord>(ended("a"))};
  const auto some = list_of({&living}, kept, false);
  EXPECT_EQ(some.runs_size(), 1);
  EXPECT_EQ(some.live(), 1u);
  EXPECT_EQ(some.kept(), 1u);
  EXPECT_FALSE(some.truncated());
  EXPECT_EQ(list_of({&living}, kept, true).runs_size(), 2);
}

TEST(ListOf, LeavesOutOlderOnesRatherThanPassTheLargestMessage) {
  std::vector<Retention::Record> kept;
  for (int i = 0; i < 1000; ++i) {
    RunRecord record = ended(std::to_string(i));
    record.info.result->detail = std::string(9000, 'x');
    kept.push_back(std::make_shared<RunRecord>(std::move(record)));
  }
  const auto list = list_of({}, kept, true);
  EXPECT_TRUE(list.truncated());
  EXPECT_EQ(list.kept(), 1000u);
  EXPECT_GT(list.runs_size(), 300);
  EXPECT_EQ(list.runs(0).run_id(), "0");
  EXPECT_LT(list.ByteSizeLong(), wire::kMaxMessageBytes);
}

v1::RunRequest request() {
  v1::RunRequest message;
  message.set_run_id("a");
  message.add_args("true");
  return message;
}

TEST(Parse, TellsRequestsApartByWhatTheyMean) {
  const auto digest = [](const v1::RunRequest& message, bool with_input = false) {
    return parse(message, with_input)->digest;
  };
  const RequestDigest plain = digest(request());
  v1::RunRequest other = request();
  other.clear_args();
  other.add_args_bytes("true");
  EXPECT_EQ(digest(other), plain);
  other = request();
  other.mutable_grace()->set_nanos(250'000'000);  // the default
  EXPECT_EQ(digest(other), plain);
  EXPECT_NE(digest(request(), true), plain);
  other = request();
  other.add_args("");
  EXPECT_NE(digest(other), plain);
  other = request();
  other.mutable_policy()->add_allow_read()->set_path_text("/srv");
  EXPECT_NE(digest(other), plain);
  other = request();
  other.add_env()->set_name("A");
  EXPECT_NE(digest(other), plain);
  other = request();
  other.mutable_policy()->mutable_limits()->mutable_wall()->set_seconds(1);
  EXPECT_NE(digest(other), plain);
}

}  // namespace
}  // namespace guard::daemon
