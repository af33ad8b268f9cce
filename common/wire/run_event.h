// guard.v1.RunEvent ⇄ run::Event.
#pragma once

#include <optional>

#include "common/base/result.h"
#include "common/run/event.h"
#include "common/run/result.h"
#include "common/wire/timestamp.h"
#include "guard/v1/run.pb.h"

namespace guard::wire {

// Takes the event over: output is moved, not copied. `at` dates started and finished.
v1::RunEvent to_proto(run::Event event, TimePoint at);

// `report` goes along when no Started has carried it.
v1::RunResult to_proto(const run::RunResult& result, TimePoint at,
                       const sandbox::Report* report = nullptr);

// For a client. An empty optional: an event that only a newer daemon sends, to be skipped.
Result<std::optional<run::Event>> event_from(v1::RunEvent message);

// A reason that this build does not know is told by the ending, and `detail` says so; a result
// without an ending is kInvalid, for no exit code may be invented.
Result<run::RunResult> result_from(const v1::RunResult& message);

}  // namespace guard::wire
