// `guardctl kill`: a signal to runs.
#pragma once

#include "client/cli/command.h"

namespace guard::client {

class KillCommand final : public Command {
 public:
  std::string_view name() const override { return "kill"; }
  std::string_view summary() const override { return "send a signal to runs"; }
  std::string help() const override;
  Result<int> run(std::span<const std::string> arguments, Context& context) const override;
};

}  // namespace guard::client
