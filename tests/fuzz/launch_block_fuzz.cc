// decode() of a launch block: reads any bytes or refuses them, and what it reads can be written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "common/supervise/launch_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto launch = guard::supervise::decode({reinterpret_cast<const char*>(data), size});
  if (launch && !guard::supervise::decode(guard::supervise::encode(*launch))) std::abort();
  return 0;
}
