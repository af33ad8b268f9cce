// Which rights exist on which ABI, what an inode of a kind takes, and their words.
#pragma once

#include <cstdint>
#include <string>

#include "common/sandbox/landlock/uapi.h"

namespace guard::landlock {

struct Handled {
  std::uint64_t fs = 0;
  std::uint64_t net = 0;
  std::uint64_t scoped = 0;
  friend bool operator==(const Handled&, const Handled&) = default;
};

// Everything that a kernel of this ABI can refuse. Zero below ABI 1.
constexpr Handled handled_by(int abi) {
  Handled all;
  if (abi >= 1) all.fs = (kMakeSym << 1) - 1;  // the first thirteen
  if (abi >= 2) all.fs |= kRefer;
  if (abi >= 3) all.fs |= kTruncate;
  if (abi >= 4) all.net |= kBindTcp | kConnectTcp;
  if (abi >= 5) all.fs |= kIoctlDev;
  if (abi >= 6) all.scoped = kScopeAbstractUnix | kScopeSignal;
  if (abi >= 9) all.fs |= kResolveUnix;
  if (abi >= 10) all.net |= kBindUdp | kConnectSendUdp;
  return all;
}

enum class NodeType : std::uint8_t {
  kDirectory,
  kFile,    // a regular file or a FIFO
  kDevice,  // a character or block device file
};

// A rule on something that is no directory may hold these only; anything else is EINVAL.
inline constexpr std::uint64_t kFileRights =
    kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev;

// What a grant means on a node. A device file is not executed but takes ioctl(2); a directory never
// gives ioctl, nor the making of device files.
constexpr std::uint64_t read_rights(NodeType type) {
  switch (type) {
    case NodeType::kDirectory:
      return kExecute | kReadFile | kReadDir;
    case NodeType::kFile:
      return kExecute | kReadFile;
    case NodeType::kDevice:
      return kReadFile | kIoctlDev;
  }
  return 0;
}

constexpr std::uint64_t write_rights(NodeType type) {
  const std::uint64_t file = read_rights(type) | kWriteFile | kTruncate;
  if (type != NodeType::kDirectory) return file;
  return file | kRemoveDir | kRemoveFile | kMakeDir | kMakeReg | kMakeSock | kMakeFifo | kMakeSym |
         kRefer;
}

// "read list execute write create remove rename truncate ioctl": one word for each that is there.
// `rename` is kRefer: within one directory, create and remove suffice for renaming.
std::string words(std::uint64_t fs_rights);

}  // namespace guard::landlock
