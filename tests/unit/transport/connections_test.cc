#include "daemon/transport/connections.h"

#include <gmock/gmock.h>

#include "common/os/seqpacket.h"

namespace guard::daemon {
namespace {

TEST(Connections, CountsThoseThatAreStillOpen) {
  Connections connections;
  auto one = os::seqpacket_pair();
  auto two = os::seqpacket_pair();
  ASSERT_TRUE(one && two);
  connections.remember(one->first.get());
  connections.remember(two->first.get());
  EXPECT_EQ(connections.count_open(), 2u);
  one->first.reset();
  EXPECT_EQ(connections.count_open(), 1u);
}

TEST(Connections, ANumberThatWasGivenOutAgainIsAnotherConnection) {
  Connections connections;
  auto one = os::seqpacket_pair();
  ASSERT_TRUE(one);
  const int fd = one->first.get();
  connections.remember(fd);
  one->first.reset();
  auto two = os::seqpacket_pair();
  ASSERT_TRUE(two);
  ASSERT_EQ(two->first.get(), fd);
  EXPECT_EQ(connections.count_open(), 0u);
}

}  // namespace
}  // namespace guard::daemon
