#include "common/run/info.h"

#include <algorithm>

namespace guard::run {

std::string_view name_of(State state) {
  switch (state) {
    case State::kStarting:
      return "starting";
    case State::kRunning:
      return "running";
    case State::kFinished:
      return "finished";
  }
  return "unknown";
}

// An empty argument takes room too: there may be 65,536 of them.
void show_args(Info& info, const std::vector<std::string>& args) {
  info.args.clear();
  std::size_t left = kShownArgBytes;
  for (const std::string& arg : args) {
    if (left == 0) break;
    info.args.push_back(arg.substr(0, left));
    left -= std::min(left, arg.size() + 1);
  }
  info.args_truncated =
      info.args.size() < args.size() || (!args.empty() && info.args.back() != args.back());
}

}  // namespace guard::run
