// The report as one JSON object on one line, with the field names of guard.v1.Report.
#pragma once

#include <string>

#include "common/sandbox/report.h"

namespace guard::sandbox {

// No newline at its end. A path that is UTF-8 is "path"; one that is not is "path_base64" (likewise
// "resolved", "private_home"): JSON has no bytes.
std::string report_json(const Report& report);

}  // namespace guard::sandbox
