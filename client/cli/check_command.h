// `guardctl check`: what a run with these flags would get, without running anything.
#pragma once

#include "client/cli/command.h"

namespace guard::client {

class CheckCommand final : public Command {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override { return "print what a run would get, run nothing"; }
  std::string help() const override;
  Result<int> run(std::span<const std::string> arguments, Context& context) const override;
};

}  // namespace guard::client
