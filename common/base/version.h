// The product's version, one for every binary of a build.
#pragma once

#include <string_view>

namespace guard {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace guard
