#include "common/base/run_id.h"

#include <sys/random.h>

#include <cerrno>
#include <string_view>

#include "common/base/check.h"

namespace guard {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";  // Crockford's base 32

}  // namespace

std::string make_run_id(std::chrono::system_clock::time_point now,
                        const std::array<std::uint8_t, 10>& chance) {
  std::string id(26, '0');
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  auto time = static_cast<std::uint64_t>(since.count());
  for (std::size_t i = 10; i-- > 0; time >>= 5) id[i] = kDigits[time & 31];

  std::uint32_t bits = 0;  // not yet written, `held` of them
  int held = 0;
  std::size_t at = 10;
  for (const std::uint8_t byte : chance) {
    bits = (bits << 8) | byte;
    held += 8;
    while (held >= 5) {
      held -= 5;
      id[at++] = kDigits[(bits >> held) & 31];
    }
  }
  return id;
}

std::string new_run_id() {
  std::array<std::uint8_t, 10> chance{};
  ssize_t got = -1;
  do {
    got = ::getrandom(chance.data(), chance.size(), 0);
  } while (got < 0 && errno == EINTR);
  GUARD_CHECK(got ==
              static_cast<ssize_t>(chance.size()));  // up to 256 bytes come whole, getrandom(2)
  return make_run_id(std::chrono::system_clock::now(), chance);
}

}  // namespace guard
