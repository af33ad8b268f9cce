#include "daemon/runs/registry.h"

#include <string>

#include <gmock/gmock.h>

#include "daemon/runs/admission.h"

namespace guard::daemon {
namespace {

TEST(Registry, AnIdIsTakenWhileItsRunLivesAndAWhileAfter) {
  Registry registry;
  EXPECT_TRUE(registry.reserve("a"));
  ASSERT_FALSE(registry.reserve("a"));
  EXPECT_EQ(registry.reserve("a").error().code, Errc::kExists);
  registry.ended("a");
  EXPECT_FALSE(registry.reserve("a"));
  EXPECT_TRUE(registry.empty());
}

TEST(Registry, AnIdUnderWhichNothingRanIsFreeAgain) {
  Registry registry;
  EXPECT_TRUE(registry.reserve("a"));
  registry.release("a");
  EXPECT_TRUE(registry.reserve("a"));
}

TEST(Registry, RemembersABoundedNumberOfIds) {
  Registry registry;
  for (std::size_t i = 0; i <= Registry::kRemembered; ++i) registry.ended(std::to_string(i));
  EXPECT_TRUE(registry.reserve("0"));
  EXPECT_FALSE(registry.reserve("1"));
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
