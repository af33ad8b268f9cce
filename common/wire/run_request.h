// guard.v1.RunRequest ⇄ run::Spec.
#pragma once

#include "common/base/result.h"
#include "common/run/spec.h"
#include "guard/v1/run.pb.h"

namespace guard::wire {

// A run that can be started as it stands, but for what only the machine knows (whether a path
// exists, what the kernel enforces). kInvalid names the field; kUnimplemented for what this guardd
// cannot honour.
Result<run::Spec> spec_from(const v1::RunRequest& request);

// spec_from(to_proto(spec)) is `spec` for a valid one: its grants with Origin::kAsked, reads before
// writes. Arguments go as text when all of them are UTF-8.
v1::RunRequest to_proto(const run::Spec& spec);

}  // namespace guard::wire
