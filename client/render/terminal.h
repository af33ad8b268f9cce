// Whether to write for a person's eyes.
#pragma once

#include <string>
#include <vector>

namespace guard::client {

// Colour: `fd` is a terminal, NO_COLOR is unset or empty (no-color.org) and TERM is not "dumb".
bool wants_color(int fd, const std::vector<std::string>& environment);

// How a text may look; nothing for a pipe or a file.
struct TextStyle {
  bool color = false;
  bool symbols = false;  // beyond ASCII
  friend bool operator==(const TextStyle&, const TextStyle&) = default;
};

// Symbols: `fd` is a terminal and the locale's characters are UTF-8 (LC_ALL, LC_CTYPE, LANG).
TextStyle style_of(int fd, const std::vector<std::string>& environment);

}  // namespace guard::client
