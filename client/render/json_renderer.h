// A run as JSON Lines: one object per event, described by docs/schema/run_event.schema.json.
#pragma once

#include <string>

#include "client/render/byte_sink.h"
#include "client/render/run_renderer.h"

namespace guard::client {

// One line without its newline. Keys are stable: a later version adds some and renames none.
std::string event_json(const run::Event& event);

class JsonRenderer final : public RunRenderer {
 public:
  explicit JsonRenderer(ByteSink& out) : out_(out) {}
  Result<> show(const run::Event& event) override { return out_.write(event_json(event) + "\n"); }

 private:
  ByteSink& out_;
};

}  // namespace guard::client
