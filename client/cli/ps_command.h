// `guardctl ps`: the runs of guardd.
#pragma once

#include "client/cli/command.h"

namespace guard::client {

class PsCommand final : public Command {
 public:
  std::string_view name() const override { return "ps"; }
  std::string_view summary() const override {
    return "list the runs that live, or all that are known";
  }
  std::string help() const override;
  Result<int> run(std::span<const std::string> arguments, Context& context) const override;
};

}  // namespace guard::client
