// Text from elsewhere made safe to show: what a terminal would obey becomes an escape.
//
// A path or a program's name may hold anything but NUL. Printed raw it could move the cursor, set
// the window's title, hide what follows, or reorder what is read (U+202E and its like, "trojan
// source"). The result holds neither and is valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace guard {

enum class Newlines {
  kEscape,  // one line in, one line out
  kKeep,    // and tabs; for text that is meant to have lines
};

// \n \t \r \e for these; \xNN for other control characters (C0, DEL) and for bytes that are not
// UTF-8; \u{NNNN} for C1 controls, for what is invisible or changes the direction of text, and for
// line separators. A backslash stays as it is: the result is for reading, not for reading back.
std::string visible(std::string_view text, Newlines newlines = Newlines::kEscape);

// True for what visible() would escape (newlines and tabs too).
bool is_hazard(char32_t code_point);

}  // namespace guard
