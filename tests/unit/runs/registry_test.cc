#include "daemon/runs/registry.h"

#include <string>

#include <gmock/gmock.h>

#include "daemon/runs/admission.h"

namespace guard::daemon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr os::Instant kNow{};
constexpr RequestDigest kOne{1, 1}, kOther{1, 2};
const run::WallTime kAt{5s};

class Follower final : public RunFollower {
 public:
  void on_started(const RunRecord& record) override {
    heard.push_back("started " + record.info.run_id);
  }
  void on_finished(const RunRecord& record) override {
    heard.push_back("finished " + record.info.result->detail);
  }
  void on_nothing_ran(const Error& why) override { heard.push_back("nothing: " + why.what); }
  std::vector<std::string> heard;
};

class RegistryTest : public testing::Test {
 protected:
  Result<> reserve(const std::string& id) { return registry_.reserve(id, kOne, {"true"}, kNow); }
  void start(const std::string& id) { registry_.started(id, 7, {}, kAt); }
  void end(const std::string& id) {
    run::RunResult result;
    result.detail = "end of " + id;
    registry_.ended(id, result, {}, kAt, kNow);
  }
  Registry registry_;
  std::shared_ptr<Follower> follower_ = std::make_shared<Follower>();
};

TEST_F(RegistryTest, AnIdIsTakenWhileItsRunLivesAndAWhileAfter) {
  EXPECT_TRUE(reserve("a"));
  ASSERT_FALSE(reserve("a"));
  EXPECT_EQ(reserve("a").error().code, Errc::kExists);
  end("a");
  EXPECT_FALSE(reserve("a"));
  EXPECT_TRUE(registry_.empty());
  EXPECT_TRUE(registry_.reserve("a", kOne, {}, kNow + 15min));
}

TEST_F(RegistryTest, AnIdUnderWhichNothingRanIsFreeAgain) {
  EXPECT_TRUE(reserve("a"));
  registry_.release("a", {});
  EXPECT_TRUE(reserve("a"));
}

TEST_F(RegistryTest, AFollowerHearsTheStartAndTheEndOnceEach) {
  ASSERT_TRUE(reserve("a"));
  ASSERT_TRUE(registry_.follow("a", follower_, kNow));
  EXPECT_THAT(follower_->heard, ElementsAre());
  start("a");
  end("a");
  EXPECT_THAT(follower_->heard, ElementsAre("started a", "finished end of a"));
}

TEST_F(RegistryTest, AFollowerThatComesLateHearsTheSame) {
  ASSERT_TRUE(reserve("a"));
  start("a");
  ASSERT_TRUE(registry_.follow("a", follower_, kNow));
  EXPECT_THAT(follower_->heard, ElementsAre("started a"));
  end("a");
  const auto later = std::make_shared<Follower>();
  ASSERT_TRUE(registry_.follow("a", later, kNow));
  EXPECT_EQ(later->heard, follower_->heard);
}

TEST_F(RegistryTest, AFollowerHearsWhyNothingRan) {
  ASSERT_TRUE(reserve("a"));
  ASSERT_TRUE(registry_.follow("a", follower_, kNow));
  registry_.release("a", {Errc::kNotFound, "no such folder", 0, ""});
  EXPECT_THAT(follower_->heard, ElementsAre("nothing: no such folder"));
}

TEST_F(RegistryTest, ARunThatWasNeverExecutedHasNoStart) {
  ASSERT_TRUE(reserve("a"));
  end("a");
  ASSERT_TRUE(registry_.follow("a", follower_, kNow));
  EXPECT_THAT(follower_->heard, ElementsAre("finished end of a"));
}

TEST_F(RegistryTest, FollowersThatAreGoneMakeRoomForOthers) {
  ASSERT_TRUE(reserve("a"));
  std::vector<std::shared_ptr<Follower>> followers;
  for (std::size_t i = 0; i < Registry::kMostFollowers; ++i) {
    followers.push_back(std::make_shared<Follower>());
    ASSERT_TRUE(registry_.follow("a", followers.back(), kNow));
  }
  const auto refused = registry_.follow("a", follower_, kNow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kExhausted);
  followers.pop_back();
  EXPECT_TRUE(registry_.follow("a", follower_, kNow));
}

TEST_F(RegistryTest, OnlyTheSameRequestIsAttached) {
  EXPECT_EQ(registry_.attach("a", kOne, follower_, kNow), false);
  ASSERT_TRUE(reserve("a"));
  EXPECT_EQ(registry_.attach("a", kOne, follower_, kNow), true);
  for (int i = 0; i < 2; ++i) {
    const auto refused = registry_.attach("a", kOther, follower_, kNow);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kExists);
    EXPECT_EQ(refused.error().what, "run_id 'a' is taken by another request");
    end("a");
  }
}

TEST_F(RegistryTest, AnUnknownRunIsNamedAndTheRuleToo) {
  const auto unknown = registry_.record("nobody", kNow);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Errc::kNotFound);
  EXPECT_THAT(unknown.error().what, testing::HasSubstr("'nobody'"));
  EXPECT_THAT(unknown.error().hint, testing::HasSubstr("15 minutes"));
  EXPECT_EQ(registry_.follow("nobody", follower_, kNow).error(), unknown.error());
}

TEST_F(RegistryTest, ListsTheNewestFirst) {
  for (const char* id : {"b", "a", "c"}) ASSERT_TRUE(reserve(id));
  std::vector<std::string> living, kept;
  for (const RunRecord* record : registry_.living_records()) living.push_back(record->info.run_id);
  for (const char* id : {"b", "c", "a"}) end(id);
  for (const auto& record : registry_.kept_records(kNow)) kept.push_back(record->info.run_id);
  EXPECT_THAT(living, ElementsAre("c", "a", "b"));
  EXPECT_THAT(kept, ElementsAre("a", "c", "b"));
}

TEST_F(RegistryTest, TellsTheStateOfARun) {
  ASSERT_TRUE(reserve("a"));
  EXPECT_EQ((*registry_.record("a", kNow))->info.state, run::State::kStarting);
  start("a");
  const run::Info running = (*registry_.record("a", kNow))->info;
  EXPECT_EQ(running.state, run::State::kRunning);
  EXPECT_EQ(running.pid, 7);
  EXPECT_EQ(running.started_at, kAt);
  end("a");
  const run::Info ended = (*registry_.record("a", kNow))->info;
  EXPECT_EQ(ended.state, run::State::kFinished);
  EXPECT_EQ(ended.pid, 0);
  EXPECT_EQ(ended.finished_at, kAt);
}

TEST(Admission, GivesPlacesBack) {
  Admission admission(2);
  auto first = admission.admit();
  auto second = admission.admit();
  ASSERT_TRUE(first && second);
  ASSERT_FALSE(admission.admit());
  EXPECT_EQ(admission.admit().error().code, Errc::kExhausted);
  *first = {};
  EXPECT_EQ(admission.taken(), 1u);
  {
    const auto third = admission.admit();
    EXPECT_TRUE(third);
  }
  EXPECT_EQ(admission.taken(), 1u);
}

}  // namespace
}  // namespace guard::daemon
