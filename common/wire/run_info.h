// guard.v1.RunInfo ⇄ run::Info.
#pragma once

#include "common/base/result.h"
#include "common/run/info.h"
#include "guard/v1/run.pb.h"

namespace guard::wire {

v1::RunInfo to_proto(const run::Info& info);

// For a client. kInvalid: a state that it does not know, or a result without an ending.
Result<run::Info> info_from(const v1::RunInfo& message);

}  // namespace guard::wire
