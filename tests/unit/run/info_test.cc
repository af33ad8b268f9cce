#include "common/run/info.h"

#include <gmock/gmock.h>

namespace guard::run {
namespace {

using testing::ElementsAre;

Info shown(const std::vector<std::string>& args) {
  Info info;
  show_args(info, args);
  return info;
}

TEST(ShowArgs, ShowsShortOnesWhole) {
  const Info info = shown({"echo", "", "a b"});
  EXPECT_THAT(info.args, ElementsAre("echo", "", "a b"));
  EXPECT_FALSE(info.args_truncated);
  EXPECT_FALSE(shown({}).args_truncated);
}

TEST(ShowArgs, CutsALongOne) {
  const Info info = shown({"echo", std::string(10'000, 'x')});
  EXPECT_THAT(info.args, ElementsAre("echo", std::string(kShownArgBytes - 5, 'x')));
  EXPECT_TRUE(info.args_truncated);
}

TEST(ShowArgs, OneThatFitsExactlyIsWhole) {
  EXPECT_FALSE(shown({std::string(kShownArgBytes, 'x')}).args_truncated);
  EXPECT_TRUE(shown({std::string(kShownArgBytes, 'x'), "y"}).args_truncated);
  EXPECT_TRUE(shown({std::string(kShownArgBytes + 1, 'x')}).args_truncated);
}

TEST(ShowArgs, ManyEmptyOnesAreCutToo) {
  const Info info = shown(std::vector<std::string>(65'536));
  EXPECT_EQ(info.args.size(), kShownArgBytes);
  EXPECT_TRUE(info.args_truncated);
}

}  // namespace
}  // namespace guard::run
