// guard.v1.Report ⇄ sandbox::Report.
#pragma once

#include "common/base/result.h"
#include "common/sandbox/report.h"
#include "guard/v1/report.pb.h"

namespace guard::wire {

v1::Report to_proto(const sandbox::Report& report);

// For a client. Protections whose name it does not know are skipped: a newer daemon has more of
// them. Any other value that it does not know is kInvalid.
Result<sandbox::Report> report_from(const v1::Report& message);

}  // namespace guard::wire
