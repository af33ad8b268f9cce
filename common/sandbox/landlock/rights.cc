#include "common/sandbox/landlock/rights.h"

#include <array>
#include <string_view>

namespace guard::landlock {
namespace {

struct Word {
  std::uint64_t any_of;
  std::string_view text;
};

constexpr std::array kWords = {
    Word{kReadFile, "read"},
    Word{kReadDir, "list"},
    Word{kExecute, "execute"},
    Word{kWriteFile, "write"},
    Word{kMakeReg | kMakeDir | kMakeSym | kMakeFifo | kMakeSock | kMakeChar | kMakeBlock, "create"},
    Word{kRemoveFile | kRemoveDir, "remove"},
    Word{kRefer, "rename"},
    Word{kTruncate, "truncate"},
    Word{kIoctlDev, "ioctl"},
    Word{kResolveUnix, "connect"},
};

}  // namespace

std::string words(std::uint64_t fs_rights) {
  std::string text;
  for (const Word& word : kWords) {
    if ((fs_rights & word.any_of) == 0) continue;
    if (!text.empty()) text += ' ';
    text += word.text;
  }
  return text;
}

}  // namespace guard::landlock
