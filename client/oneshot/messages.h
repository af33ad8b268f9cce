// What xenarch-guard says on stderr, each a line of its own.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace guard::client {

inline constexpr std::string_view kPrefix = "[xenarch-guard] ";

void say_error(std::string_view message, std::string_view hint);
void say_note(std::string_view note);

// All of `text` to a descriptor; false when it does not take it.
bool write_text(int fd, std::string_view text);

}  // namespace guard::client
