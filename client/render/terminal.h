// Whether to write for a person's eyes.
#pragma once

#include <string>
#include <vector>

namespace guard::client {

// Colour: `fd` is a terminal, NO_COLOR is unset or empty (no-color.org) and TERM is not "dumb".
bool wants_color(int fd, const std::vector<std::string>& environment);

}  // namespace guard::client
