// `guardctl wait`: the end of a run that somebody else started, and its exit code.
#pragma once

#include "client/cli/command.h"

namespace guard::client {

class WaitCommand final : public Command {
 public:
  std::string_view name() const override { return "wait"; }
  std::string_view summary() const override { return "wait for a run and exit as it did"; }
  std::string help() const override;
  Result<int> run(std::span<const std::string> arguments, Context& context) const override;
  int exit_code_for(const Error& error) const override;
};

}  // namespace guard::client
