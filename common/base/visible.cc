#include "common/base/visible.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "common/base/utf8.h"

namespace guard {
namespace {

struct Range {
  char32_t first, last;
};

constexpr std::array kHazards{
    Range{0x0000, 0x001f},    // C0
    Range{0x007f, 0x009f},    // DEL, C1: 0x9b is a control sequence introducer
    Range{0x00ad, 0x00ad},    // soft hyphen
    Range{0x061c, 0x061c},    // Arabic letter mark
    Range{0x115f, 0x1160},    // Hangul fillers: blank
    Range{0x180e, 0x180e},    // Mongolian vowel separator
    Range{0x200b, 0x200f},    // zero width, left-to-right and right-to-left marks
    Range{0x2028, 0x202e},    // line and paragraph separators, embeddings, overrides
    Range{0x2060, 0x206f},    // word joiner, isolates, deprecated format characters
    Range{0x3164, 0x3164},    // Hangul filler
    Range{0xfeff, 0xfeff},    // byte order mark
    Range{0xffa0, 0xffa0},    // half-width Hangul filler
    Range{0xfff9, 0xfffb},    // interlinear annotation
    Range{0xe0000, 0xe0fff},  // tags, variation selectors supplement
};

void append_escape(std::string& out, CodePoint point) {
  switch (point.value) {
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    case 0x1b:
      out += "\\e";
      return;
    default:
      break;
  }
  const auto number = static_cast<std::uint32_t>(point.value);
  out += point.bytes == 1 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{{{:04x}}}", number);
}

}  // namespace

bool is_hazard(char32_t code_point) {
  for (const Range& range : kHazards) {
    if (code_point >= range.first && code_point <= range.last) return true;
  }
  return false;
}

std::string visible(std::string_view text, Newlines newlines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (point.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    const bool kept = newlines == Newlines::kKeep && (point.value == '\n' || point.value == '\t');
    if (is_hazard(point.value) && !kept) {
      append_escape(out, point);
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

}  // namespace guard
