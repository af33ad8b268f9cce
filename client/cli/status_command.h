// `guardctl status`: whether a guardd runs, and what it is.
#pragma once

#include "client/cli/command.h"

namespace guard::client {

class StatusCommand final : public Command {
 public:
  std::string_view name() const override { return "status"; }
  std::string_view summary() const override { return "tell whether guardd runs, and about it"; }
  std::string help() const override;
  Result<int> run(std::span<const std::string> arguments, Context& context) const override;
};

}  // namespace guard::client
