#include "daemon/transport/peers.h"

#include <sys/socket.h>

#include <string>

#include <gmock/gmock.h>

#include "common/os/seqpacket.h"

namespace guard::daemon {
namespace {

TEST(Peers, FindsTheCallerOfAConnection) {
  Peers peers;
  auto ends = os::seqpacket_pair();
  ASSERT_TRUE(ends);
  const int fd = ends->first.get();
  peers.remember(fd, {.pid = 7, .uid = 8, .gid = 9});
  EXPECT_EQ(peers.find("fd:" + std::to_string(fd)), (Caller{7, 8, 9}));
}

TEST(Peers, KnowsNobodyBehindOtherText) {
  Peers peers;
  for (const char* text : {"", "fd:", "fd:x", "fd:3x", "fd:-", "unix:/x", "fd:3"}) {
    EXPECT_FALSE(peers.find(text)) << text;
  }
}

TEST(Peers, CountsConnectionsThatAreStillOpen) {
  Peers peers;
  auto one = os::seqpacket_pair();
  auto two = os::seqpacket_pair();
  ASSERT_TRUE(one && two);
  peers.remember(one->first.get(), {});
  peers.remember(two->first.get(), {});
  EXPECT_EQ(peers.count_open(), 2u);
  one->first.reset();
  EXPECT_EQ(peers.count_open(), 1u);
}

TEST(Peers, ANumberThatWasGivenOutAgainIsAnotherConnection) {
  Peers peers;
  auto one = os::seqpacket_pair();
  ASSERT_TRUE(one);
  const int fd = one->first.get();
  peers.remember(fd, {});
  one->first.reset();
  auto two = os::seqpacket_pair();
  ASSERT_TRUE(two);
  ASSERT_EQ(two->first.get(), fd);
  EXPECT_EQ(peers.count_open(), 0u);
}

}  // namespace
}  // namespace guard::daemon
