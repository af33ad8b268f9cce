#include "daemon/transport/listener.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>

namespace guard::daemon {
namespace {

using ::testing::HasSubstr;

class ListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "guardd-listener-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string socket() const { return folder_ / "guardd.sock"; }

  std::filesystem::path folder_;
};

TEST_F(ListenerTest, TheSocketIsThereOnlyWhileItLives) {
  {
    const auto listener = Listener::open(socket());
    ASSERT_TRUE(listener) << listener.error().message();
    struct stat status{};
    ASSERT_EQ(::stat(socket().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
  }
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(ListenerTest, ASecondOneIsToldThePidOfTheFirst) {
  const auto first = Listener::open(socket());
  ASSERT_TRUE(first);
  const auto second = Listener::open(socket());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kExists);
  EXPECT_EQ(second.error().what, "already running (pid " + std::to_string(::getpid()) + ")");
  EXPECT_TRUE(std::filesystem::exists(socket()));
}

TEST_F(ListenerTest, TheUmaskIsAsItWas) {
  const mode_t before = ::umask(022);
  const auto listener = Listener::open(socket());
  EXPECT_EQ(::umask(before), 022u);
  ASSERT_TRUE(listener);
}

TEST_F(ListenerTest, AFileOfAnotherKindStays) {
  std::filesystem::create_directory(socket());
  const auto listener = Listener::open(socket());
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, Errc::kDenied);
  EXPECT_TRUE(std::filesystem::is_directory(socket()));
}

TEST_F(ListenerTest, AFolderThatOthersMayEnterIsRefused) {
  std::filesystem::permissions(folder_, std::filesystem::perms(0755));
  const auto listener = Listener::open(socket());
  ASSERT_FALSE(listener);
  EXPECT_THAT(listener.error().what, HasSubstr(folder_.string()));
}

}  // namespace
}  // namespace guard::daemon
