#include "common/sandbox/path_text.h"

#include <gtest/gtest.h>

namespace guard::sandbox {
namespace {

TEST(PathText, RelativePathsStartAtTheGivenFolder) {
  EXPECT_EQ(absolute_path("x", "/w"), "/w/x");
  EXPECT_EQ(absolute_path("./x/", "/w"), "/w/x");
  EXPECT_EQ(absolute_path(".", "/w"), "/w");
  EXPECT_EQ(absolute_path("x", "/"), "/x");
  EXPECT_EQ(absolute_path("/a//b/./c", "/w"), "/a/b/c");
  EXPECT_EQ(absolute_path("/", "/w"), "/");
}

TEST(PathText, LeavesDotDotToTheKernelSinceSymlinksChangeWhatItMeans) {
  EXPECT_EQ(absolute_path("../x", "/w/l"), "/w/l/../x");
}

TEST(PathText, WithinIsByComponents) {
  EXPECT_TRUE(is_within("/a/b", "/a"));
  EXPECT_TRUE(is_within("/a", "/a"));
  EXPECT_FALSE(is_within("/ab", "/a"));
  EXPECT_FALSE(is_within("/a", "/a/b"));
  EXPECT_TRUE(is_within("/a", "/"));
}

TEST(PathText, ParentsEndAtTheRoot) {
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/"), "/");
  EXPECT_EQ(last_component("/a/b"), "b");
}

TEST(PathText, AMissingPathIsWhereItWouldBe) {
  EXPECT_EQ(canonical_path("/usr/../usr/no/such"), "/usr/no/such");
  EXPECT_EQ(canonical_path("/no/such"), "/no/such");
  EXPECT_EQ(canonical_path("/"), "/");
}

}  // namespace
}  // namespace guard::sandbox
