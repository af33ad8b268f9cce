#include "common/sandbox/path_text.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
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

std::vector<std::string> links_and_canonical_path(const std::string& path) {
  constexpr std::size_t kMostLinks = 40;  // as path_resolution(7): then the path leads nowhere
  std::vector<std::string> ways;
  std::string rest = path;
  std::size_t at = 0;  // rest[0, at) has no link in it
  while (at < rest.size() && ways.size() < kMostLinks) {
    const std::size_t end = std::min(rest.find('/', at + 1), rest.size());
    const std::string link = rest.substr(0, end);
    char target[PATH_MAX];
    const ssize_t length = ::readlink(link.c_str(), target, sizeof target);
    if (length <= 0) {
      at = end;
      continue;
    }
    const std::string folder = canonical_path(std::string(parent_of(link)));
    const std::string in_folder = folder == "/" ? folder : folder + "/";
    ways.push_back(in_folder + std::string(last_component(link)));
    const std::string to(target, static_cast<std::size_t>(length));
    rest = (to.starts_with('/') ? to : in_folder + to) + rest.substr(end);
    at = 0;
  }
  ways.push_back(canonical_path(rest));  // of `path` it would stop at a link to nothing
  return ways;
}

}  // namespace guard::sandbox
