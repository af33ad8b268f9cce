// Paths as text: no file system is asked, `..` and symlinks stay what they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace guard::sandbox {

// `path`, or directory/path when it is relative, without `.` components, doubled and trailing
// slashes.
std::string absolute_path(std::string_view path, std::string_view directory);

// Whether `path` is `top` or lies below it. Both absolute, without trailing slash but for "/".
bool is_within(std::string_view path, std::string_view top);

// "/a/b" of "/a/b/c", "/" of "/a" and of "/".
std::string_view parent_of(std::string_view path);
std::string_view last_component(std::string_view path);

// What symlinks and `..` in `path` lead to now. Where it does not exist, the longest part that does
// is resolved and the rest appended: where it would be.
std::string canonical_path(const std::string& path);

// canonical_path(), and before it every symbolic link on the way there, each by the canonical name
// of its own folder: whoever may replace one of them decides where `path` leads.
std::vector<std::string> links_and_canonical_path(const std::string& path);

}  // namespace guard::sandbox
