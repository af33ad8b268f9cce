#include "common/sandbox/path_text.h"

#include <cstdlib>
#include <memory>

namespace guard::sandbox {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

std::string absolute_path(std::string_view path, std::string_view directory) {
  std::string joined;
  if (!path.starts_with('/')) joined = std::string(directory) + '/';
  joined += path;
  std::string result;
  std::size_t at = 0;
  while (at < joined.size()) {
    const std::size_t slash = std::min(joined.find('/', at), joined.size());
    const std::string_view component = std::string_view(joined).substr(at, slash - at);
    if (!component.empty() && component != ".") result.append("/").append(component);
    at = slash + 1;
  }
  if (result.empty()) result = "/";
  return result;
}

bool is_within(std::string_view path, std::string_view top) {
  if (top == "/") return path.starts_with('/');
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : path.substr(0, slash);
}

std::string_view last_component(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string canonical_path(const std::string& path) {
  std::string_view existing = path;
  for (;;) {
    const std::string candidate(existing);
    const std::unique_ptr<char, Free> real(::realpath(candidate.c_str(), nullptr));
    if (real) {
      const std::string_view rest = std::string_view(path).substr(existing.size());
      if (rest.empty()) return real.get();
      const std::string_view top = real.get();
      return std::string(top == "/" ? "" : top)
          .append(rest.starts_with('/') ? "" : "/")
          .append(rest);
    }
    if (existing == "/") return path;
    existing = parent_of(existing);
  }
}

}  // namespace guard::sandbox
