// What a run tells while it lives.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/run/result.h"
#include "common/sandbox/report.h"

namespace guard::run {

struct Started {
  sandbox::Report report;
  std::vector<std::string> notes;  // PATH entries that were passed over
  bool attached = false;           // to the run of an earlier call, which has the output
};
struct Output {
  Stream stream = Stream::kStdout;
  std::uint64_t offset = 0;
  std::string data;
};
struct Finished {
  RunResult result;
};

struct Event {
  std::string run_id;
  std::variant<Started, Output, Finished> what;
};

}  // namespace guard::run
