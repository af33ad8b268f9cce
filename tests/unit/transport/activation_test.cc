#include "daemon/transport/activation.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include <gmock/gmock.h>

namespace guard::daemon {
namespace {

using ::testing::HasSubstr;

TEST(PassesSocket, OnlyToTheProcessThatIsNamed) {
  EXPECT_TRUE(*passes_socket("77", "1", 77));
  for (const char* pid : {"78", "", "077", "77 ", "-77", "7"}) {
    EXPECT_FALSE(*passes_socket(pid, "1", 77)) << pid;
  }
  EXPECT_FALSE(*passes_socket(nullptr, "1", 77));
}

TEST(PassesSocket, ExactlyOneOrItIsAnError) {
  for (const char* count : {"0", "2", "", "x", "-1", "1 ", "99999999999999999999"}) {
    const auto passes = passes_socket("77", count, 77);
    ASSERT_FALSE(passes) << count;
    EXPECT_THAT(passes.error().what, HasSubstr("LISTEN_FDS is '" + std::string(count) + "'"));
  }
  EXPECT_FALSE(passes_socket("77", nullptr, 77));
}

TEST(ServiceManager, OfNobodyHearsNothing) {
  const auto manager = ServiceManager::at("");
  ASSERT_TRUE(manager);
  manager->say("READY=1");
}

TEST(ServiceManager, HasAnAbsoluteOrAbstractAddress) {
  EXPECT_TRUE(ServiceManager::at("/run/notify"));
  EXPECT_TRUE(ServiceManager::at("@notify"));
  for (const std::string& address : {std::string("notify"), std::string("/"), std::string("@"),
                                     std::string("vsock:2:1"), std::string(108, '/')}) {
    EXPECT_FALSE(ServiceManager::at(address)) << address;
  }
}

TEST(ServiceManager, IsToldOnAnAbstractSocket) {
  const int receiver = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const std::string name = "guardd-notify-" + std::to_string(::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(::bind(receiver, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ServiceManager::at("@" + name)->say("READY=1");
  char text[64] = {};
  EXPECT_EQ(::recv(receiver, text, sizeof text, MSG_DONTWAIT), 7);
  EXPECT_STREQ(text, "READY=1");
  ::close(receiver);
}

}  // namespace
}  // namespace guard::daemon
