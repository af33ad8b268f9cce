#include "common/base/shell_quote.h"

#include <cstdint>

#include <fmt/format.h>

#include "common/base/utf8.h"
#include "common/base/visible.h"

namespace guard {
namespace {

bool is_bare(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

bool all_bare(std::string_view word) {
  for (const char c : word) {
    if (!is_bare(c)) return false;
  }
  return !word.empty();
}

bool is_showable(std::string_view word) {
  while (!word.empty()) {
    const CodePoint point = first_code_point(word);
    if (point.bytes == 0 || is_hazard(point.value)) return false;
    word.remove_prefix(point.bytes);
  }
  return true;
}

// Octal, three digits: unlike \x it cannot run into the character that follows.
void append_octal(std::string& out, std::string_view bytes) {
  for (const char c : bytes) out += fmt::format("\\{:03o}", static_cast<std::uint8_t>(c));
}

std::string dollar_quoted(std::string_view word) {
  std::string out = "$'";
  while (!word.empty()) {
    const CodePoint point = first_code_point(word);
    const std::string_view piece = word.substr(0, point.bytes == 0 ? 1 : point.bytes);
    if (point.value == '\n' && point.bytes == 1) {
      out += "\\n";
    } else if (point.value == '\t' && point.bytes == 1) {
      out += "\\t";
    } else if (point.bytes == 0 || is_hazard(point.value)) {
      append_octal(out, piece);
    } else {
      if (piece == "'" || piece == "\\") out += '\\';
      out += piece;
    }
    word.remove_prefix(piece.size());
  }
  return out + "'";
}

}  // namespace

std::string shell_quote(std::string_view word) {
  if (all_bare(word)) return std::string(word);
  if (!is_showable(word)) return dollar_quoted(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string shell_join(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    out += shell_quote(word);
  }
  return out;
}

}  // namespace guard
