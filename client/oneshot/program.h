// Becoming the program, after the sandbox is on.
#pragma once

#include <string>
#include <vector>

#include "common/run/result.h"
#include "common/sandbox/report.h"

namespace guard::client {

struct Program {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  bool quiet = false;  // no note about candidates that were passed over
};

// PATH is searched by execvp(3)'s rules: a candidate that is refused is passed over for a later
// one, with a note on stderr. A file without a #! line is not given to a shell. Returns only when
// nothing could be executed.
struct ExecFailure {
  run::SpawnError error;
  int exit_code = 0;  // 126 or 127
};
ExecFailure execute(const Program& program, const sandbox::Report& report);

}  // namespace guard::client
