// UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629).
#pragma once

#include <cstddef>
#include <string_view>

namespace guard {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 1..4; 0 when the text does not start with valid UTF-8
};

// The first code point of `text`; {0, 0} for empty text too.
CodePoint first_code_point(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace guard
