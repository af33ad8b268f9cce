// `guardctl daemon start|stop|status`: guardd itself.
#pragma once

#include "client/cli/command.h"

namespace guard::client {

class DaemonCommand final : public Command {
 public:
  std::string_view name() const override { return "daemon"; }
  std::string_view summary() const override { return "start or stop guardd"; }
  std::string help() const override;
  Result<int> run(std::span<const std::string> arguments, Context& context) const override;
};

}  // namespace guard::client
