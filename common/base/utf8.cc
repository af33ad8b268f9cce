#include "common/base/utf8.h"

#include <cstdint>

namespace guard {

CodePoint first_code_point(std::string_view text) {
  if (text.empty()) return {};
  const auto lead = static_cast<std::uint8_t>(text[0]);
  if (lead < 0x80) return {lead, 1};

  std::size_t bytes = 0;
  char32_t value = 0;
  char32_t smallest = 0;  // that needs this many bytes
  if (lead >= 0xc2 && lead <= 0xdf) {
    bytes = 2, value = lead & 0x1fu, smallest = 0x80;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    bytes = 3, value = lead & 0x0fu, smallest = 0x800;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    bytes = 4, value = lead & 0x07u, smallest = 0x10000;
  }
  if (bytes == 0 || text.size() < bytes) return {};
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<std::uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    value = (value << 6) | (next & 0x3fu);
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest || surrogate || value > 0x10ffff) return {};
  return {value, bytes};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (point.bytes == 0) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

}  // namespace guard
