// What the grants of a report say about paths.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/sandbox/report.h"

namespace guard::run {

// `resolved`: absolute, symbolic links followed.
bool is_granted(std::string_view resolved, const sandbox::Report& report);

// Arguments of a command that starts in `cwd` and that lead out of its grants by a symbolic link in
// one: the kernel judges where a link leads and not where it lies, and the command learns no more
// than "Permission denied". A clause each that names link, target and flag; a few at most. Looks at
// the file system for symbolic links only. argv[0] is left to explain_spawn().
std::vector<std::string> links_that_lead_out(std::span<const std::string> argv,
                                             const std::string& cwd, const sandbox::Report& report);

}  // namespace guard::run
