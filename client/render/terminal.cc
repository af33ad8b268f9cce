#include "client/render/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "common/sandbox/environment.h"

namespace guard::client {
namespace {

// The first of them that is set and not empty counts, locale(7).
bool is_utf8(const std::vector<std::string>& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(sandbox::value_of(environment, name));
    if (value.empty()) continue;
    std::ranges::transform(value, value.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

bool wants_color(int fd, const std::vector<std::string>& environment) {
  return ::isatty(fd) == 1 && sandbox::value_of(environment, "NO_COLOR").empty() &&
         sandbox::value_of(environment, "TERM") != "dumb";
}

TextStyle style_of(int fd, const std::vector<std::string>& environment) {
  return {.color = wants_color(fd, environment),
          .symbols = ::isatty(fd) == 1 && is_utf8(environment)};
}

}  // namespace guard::client
