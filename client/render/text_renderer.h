// A run as if the program had been called directly: its bytes on stdout and stderr, and on stderr
// what one has to know: protections that are weakened, why nothing ran, why it was stopped, what
// outlived the program. With `verbose` the whole report too.
#pragma once

#include "client/render/byte_sink.h"
#include "client/render/messages.h"
#include "client/render/run_renderer.h"

namespace guard::client {

class TextRenderer final : public RunRenderer {
 public:
  TextRenderer(ByteSink& out, Messages& messages, bool verbose)
      : out_(out), messages_(messages), verbose_(verbose) {}
  Result<> show(const run::Event& event) override;

 private:
  void show_started(const run::Started& started);
  void show_finished(const run::RunResult& result);

  ByteSink& out_;
  Messages& messages_;
  const bool verbose_;
  bool confined_ = false;
};

}  // namespace guard::client
