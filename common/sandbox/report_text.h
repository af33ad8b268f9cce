// The policy summary for people: at most six lines, or everything.
#pragma once

#include <string>

#include "common/sandbox/report.h"

namespace guard::sandbox {

struct TextStyle {
  std::string prefix = "[xenarch-guard] ";  // of every line
  bool verbose = false;                     // base grants, protections, what stays open
};

// Lines with their newline. Paths are shell words: what a terminal would obey is escaped.
//
//   allow-read:  /srv/notes, /srv/ws (working directory)
//   allow-write: /srv/ws
//   network:     connect blocked, bind blocked
//   base:        …
//   env:         9 passed, 14 withheld
//   weakened:    …                         only when there is something
std::string report_text(const Report& report, const TextStyle& style);

// "/srv/l -> /srv/x (missing, skipped)": one grant in words.
std::string grant_words(const GrantLine& grant);

}  // namespace guard::sandbox
