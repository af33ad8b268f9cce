// The launcher's messages: whatever the bytes, decode() is an error or a Launch that encodes back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/supervise/launch_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view block(reinterpret_cast<const char*>(data), size);
  if (const auto launch = guard::supervise::decode(block)) {
    const auto again = guard::supervise::decode(guard::supervise::encode(*launch));
    GUARD_CHECK(again && *again == *launch);
  }
  return 0;
}
