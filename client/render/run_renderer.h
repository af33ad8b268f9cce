// What a run tells, shown: as a program's output with a few lines of ours (text_renderer.h), or as
// JSON Lines (json_renderer.h).
#pragma once

#include "common/base/result.h"
#include "common/run/event.h"

namespace guard::client {

class RunRenderer {
 public:
  virtual ~RunRenderer() = default;
  // The error is that of the sink: nobody reads any more, or the disk is full.
  virtual Result<> show(const run::Event& event) = 0;
};

}  // namespace guard::client
