#include "common/sandbox/landlock/rights.h"

#include <bit>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::landlock {
namespace {

TEST(LandlockRights, EachAbiHandlesWhatItsKernelKnows) {
  struct Expected {
    int abi, fs, net, scopes;
  };
  // Numbers of rights, landlock(7) and the kernel's changelog.
  const Expected table[] = {{0, 0, 0, 0},  {1, 13, 0, 0}, {2, 14, 0, 0},  {3, 15, 0, 0},
                            {4, 15, 2, 0}, {5, 16, 2, 0}, {6, 16, 2, 2},  {7, 16, 2, 2},
                            {8, 16, 2, 2}, {9, 17, 2, 2}, {10, 17, 4, 2}, {11, 17, 4, 2}};
  for (const Expected& row : table) {
    const Handled handled = handled_by(row.abi);
    EXPECT_EQ(std::popcount(handled.fs), row.fs) << "ABI " << row.abi;
    EXPECT_EQ(std::popcount(handled.net), row.net) << "ABI " << row.abi;
    EXPECT_EQ(std::popcount(handled.scoped), row.scopes) << "ABI " << row.abi;
  }
}

TEST(LandlockRights, NewerAbisKeepWhatOlderOnesHandle) {
  for (int abi = 1; abi <= 11; ++abi) {
    EXPECT_EQ(handled_by(abi).fs & handled_by(abi - 1).fs, handled_by(abi - 1).fs);
  }
}

TEST(LandlockRights, AReadGrantExecutesButADeviceIsNotExecuted) {
  EXPECT_EQ(read_rights(NodeType::kDirectory), kReadFile | kReadDir | kExecute);
  EXPECT_EQ(read_rights(NodeType::kFile), kReadFile | kExecute);
  EXPECT_EQ(read_rights(NodeType::kDevice), kReadFile | kIoctlDev);
}

TEST(LandlockRights, OnlyDirectoriesGetDirectoryRights) {
  for (const NodeType type : {NodeType::kFile, NodeType::kDevice}) {
    EXPECT_EQ(read_rights(type) & ~kFileRights, 0u);
    EXPECT_EQ(write_rights(type) & ~kFileRights, 0u);
  }
}

TEST(LandlockRights, AWritableDirectoryMakesNoDevicesAndGivesNoIoctl) {
  const std::uint64_t rights = write_rights(NodeType::kDirectory);
  EXPECT_EQ(rights & (kMakeChar | kMakeBlock | kIoctlDev | kResolveUnix), 0u);
  EXPECT_NE(rights & kRefer, 0u);
  EXPECT_NE(rights & kTruncate, 0u);
}

TEST(LandlockRights, WordsNameEachKindOfRightOnce) {
  EXPECT_EQ(words(0), "");
  EXPECT_EQ(words(read_rights(NodeType::kDirectory)), "read list execute");
  EXPECT_EQ(words(write_rights(NodeType::kDirectory)),
            "read list execute write create remove rename truncate");
  EXPECT_EQ(words(write_rights(NodeType::kDevice)), "read write truncate ioctl");
}

}  // namespace
}  // namespace guard::landlock
