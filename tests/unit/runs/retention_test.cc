#include "daemon/runs/retention.h"

#include <string>

#include <gmock/gmock.h>

namespace guard::daemon {
namespace {

using namespace std::chrono_literals;

constexpr os::Instant kStart{};

Retention::Record record(const std::string& id, std::size_t detail_bytes = 0) {
  RunRecord made;
  made.info.run_id = id;
  made.info.result = run::RunResult{};
  made.info.result->detail = std::string(detail_bytes, 'x');
  return std::make_shared<const RunRecord>(std::move(made));
}

std::vector<std::string> ids(Retention& retention, os::Instant now) {
  std::vector<std::string> found;
  for (const auto& each : retention.all(now)) found.push_back(each->info.run_id);
  return found;
}

TEST(Retention, KeepsAResultForFifteenMinutes) {
  Retention retention;
  retention.keep(record("a"), kStart);
  EXPECT_TRUE(retention.find("a", kStart + 15min - 1ns));
  EXPECT_FALSE(retention.find("a", kStart + 15min));
  EXPECT_TRUE(retention.all(kStart + 15min).empty());
}

TEST(Retention, KeepsTheLastThousand) {
  Retention retention;
  for (int i = 0; i <= 1000; ++i) retention.keep(record(std::to_string(i)), kStart);
  EXPECT_FALSE(retention.find("0", kStart));
  EXPECT_TRUE(retention.find("1", kStart));
  EXPECT_TRUE(retention.find("1000", kStart));
  EXPECT_EQ(retention.all(kStart).size(), 1000u);
}

TEST(Retention, KeepsNoMoreBytesThanItsLimitButAlwaysTheNewest) {
  Retention retention({.results = 10, .bytes = 10'000, .age = 15min});
  retention.keep(record("a", 4000), kStart);
  retention.keep(record("b", 4000), kStart);
  EXPECT_THAT(ids(retention, kStart), testing::ElementsAre("a", "b"));
  retention.keep(record("c", 4000), kStart);
  EXPECT_THAT(ids(retention, kStart), testing::ElementsAre("b", "c"));
  retention.keep(record("d", 40'000), kStart);
  EXPECT_THAT(ids(retention, kStart), testing::ElementsAre("d"));
  retention.keep(record("e"), kStart);
  EXPECT_THAT(ids(retention, kStart), testing::ElementsAre("e"));
}

TEST(Retention, AnIdThatExpiredMayComeAgain) {
  Retention retention;
  retention.keep(record("a"), kStart);
  retention.keep(record("b"), kStart + 10min);
  retention.keep(record("a"), kStart + 15min);
  EXPECT_THAT(ids(retention, kStart + 24min), testing::ElementsAre("b", "a"));
  EXPECT_TRUE(retention.find("a", kStart + 30min - 1ns));
  EXPECT_FALSE(retention.find("a", kStart + 30min));
}

sandbox::GrantLine line(const std::string& path, sandbox::Origin origin) {
  sandbox::GrantLine made;
  made.path = path;
  made.resolved = path;
  made.origin = origin;
  return made;
}

TEST(RunRecord, CountsWhatAClientCanMakeLarge) {
  RunRecord small, large;
  large.notes = {std::string(1000, 'n')};
  sandbox::Report report;
  report.grants.push_back(line(std::string(4000, 'p'), sandbox::Origin::kAsked));
  large.report = KeptReport(report, {});
  run::SpawnError error;
  error.path = std::string(4000, 'p');
  large.info.result.emplace().ending = error;
  EXPECT_GE(large.bytes(), small.bytes() + 13'000);
}

sandbox::Report report_with_base(const std::string& own) {
  using sandbox::Origin;
  sandbox::Report report;
  report.grants.push_back(line(own, Origin::kAsked));
  for (int i = 0; i < 50; ++i) {
    report.grants.push_back(line("/usr/" + std::to_string(i), Origin::kBase));
  }
  report.grants.push_back(line("/private", Origin::kPrivate));
  return report;
}

TEST(KeptReport, GivesTheReportBackWholeAndSharesTheBase) {
  const sandbox::Report first = report_with_base("/a"), second = report_with_base("/b");
  const KeptReport a(first, {});
  const KeptReport b(second, a);
  EXPECT_EQ(a.whole(), first);
  EXPECT_EQ(b.whole(), second);
  EXPECT_LT(b.bytes(), 1000u);
}

TEST(KeptReport, DoesNotTakeAnotherBaseForItsOwn) {
  const KeptReport a(report_with_base("/a"), {});
  sandbox::Report other = report_with_base("/a");
  other.grants[7].path = "/opt";
  EXPECT_EQ(KeptReport(other, a).whole(), other);
  other.grants.erase(other.grants.begin() + 20);
  EXPECT_EQ(KeptReport(other, a).whole(), other);
  EXPECT_EQ(KeptReport(sandbox::Report{}, a).whole(), sandbox::Report{});
}

TEST(RequestDigest, IsThatOfTheAlgorithm) {
  // Of the reference implementation's test vectors, 128 bits FNV-1a.
  EXPECT_EQ(digest_of(""), (RequestDigest{0x6c62272e07bb0142, 0x62b821756295c58d}));
  EXPECT_EQ(digest_of("a"), (RequestDigest{0xd228cb696f1a8caf, 0x78912b704e4a8964}));
  EXPECT_NE(digest_of("ab"), digest_of("ba"));
}

}  // namespace
}  // namespace guard::daemon
