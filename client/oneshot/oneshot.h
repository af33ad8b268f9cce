// xenarch-guard: restricts itself, then becomes the command. Nothing is forked.
//
//   flags → policy → grants opened → plan and report for this kernel → report shown
//         → enforce() on ourselves → execve
#pragma once

#include <string>
#include <vector>

namespace guard::client {

// Returns only when no command became of it: the exit code.
int oneshot(const std::vector<std::string>& arguments, const std::vector<std::string>& environment);

}  // namespace guard::client
