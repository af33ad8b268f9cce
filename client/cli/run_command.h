// `guardctl run`: flags in, one run, its events to a renderer, its exit code out.
#pragma once

#include "client/cli/command.h"

namespace guard::client {

class RunCommand final : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override { return "run a program confined"; }
  std::string help() const override;
  Result<int> run(std::span<const std::string> arguments, Context& context) const override;
  int exit_code_for(const Error& error) const override;
};

}  // namespace guard::client
