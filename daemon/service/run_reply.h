// What is remembered of runs as guard.v1 tells it.
#pragma once

#include <memory>
#include <vector>

#include "daemon/runs/retention.h"
#include "daemon/runs/run_record.h"
#include "guard/v1/guard.pb.h"

namespace guard::daemon {

// Of a run that has ended; with its report when the program was never executed.
v1::RunResult result_of(const RunRecord& record);

// With its report, as soon as there is one.
v1::RunInfo info_of(const RunRecord& record);

// As many as fit; both lists in the order of the reply.
v1::ListReply list_of(const std::vector<const RunRecord*>& living,
                      const std::vector<Retention::Record>& kept, bool include_kept);

}  // namespace guard::daemon
