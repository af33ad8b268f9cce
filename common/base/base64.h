// Base 64 (RFC 4648 section 4, with padding): bytes in JSON that are not UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace guard {

std::string base64(std::string_view bytes);

}  // namespace guard
