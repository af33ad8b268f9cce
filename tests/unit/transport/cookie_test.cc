#include "daemon/transport/cookie.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gmock/gmock.h>

#include "common/os/runtime_dir.h"
#include "common/os/sys.h"

namespace guard::daemon {
namespace {

namespace fs = std::filesystem;

class CookieTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "guardd-cookie-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string socket() const { return folder_ / "guardd.sock"; }
  fs::path file() const { return folder_ / "guardd.cookie"; }

  fs::path folder_;
};

TEST_F(CookieTest, TheFileHoldsItForUsAloneWhileItLives) {
  {
    const auto cookie = Cookie::create(socket());
    ASSERT_TRUE(cookie) << cookie.error().message();
    EXPECT_EQ(cookie->text().size(), os::kCookieDigits);
    EXPECT_EQ(*os::read_file(file(), os::kCookieDigits), cookie->text());
    EXPECT_EQ(fs::status(file()).permissions(), fs::perms(0600));
  }
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(CookieTest, IsAnotherEachTimeAndLeavesTheFileOfItsSuccessor) {
  auto first = std::make_unique<Result<Cookie>>(Cookie::create(socket()));
  const auto second = Cookie::create(socket());
  ASSERT_TRUE(*first && second);
  EXPECT_NE((*first)->text(), second->text());
  first.reset();
  EXPECT_EQ(*os::read_file(file(), os::kCookieDigits), second->text());
}

TEST_F(CookieTest, WritesThroughNoLinkThatLiesInItsPlace) {
  std::ofstream(folder_ / "other") << "mine";
  fs::create_symlink(folder_ / "other", file());
  const auto cookie = Cookie::create(socket());
  ASSERT_TRUE(cookie);
  EXPECT_FALSE(fs::is_symlink(file()));
  EXPECT_EQ(*os::read_file(folder_ / "other", 99), "mine");
}

TEST_F(CookieTest, NeedsAFolderThatIsOursAlone) {
  fs::permissions(folder_, fs::perms(0755));
  EXPECT_FALSE(Cookie::create(socket()));
}

TEST(CookiePath, IsBesideTheSocket) {
  EXPECT_EQ(os::cookie_path("/run/guardd/guardd.sock"), "/run/guardd/guardd.cookie");
  EXPECT_EQ(os::cookie_path("/run/x.d/name"), "/run/x.d/name.cookie");
  EXPECT_EQ(os::cookie_path("/run/x/.sock"), "/run/x/.sock.cookie");
}

TEST(SameSecret, OnlyWhenEqual) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "xbc", "abcd"})
    EXPECT_FALSE(same_secret("abc", other));
}

}  // namespace
}  // namespace guard::daemon
