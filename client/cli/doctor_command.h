// `guardctl doctor`: what this machine does for runs, what it lacks, and what mends it.
#pragma once

#include "client/cli/command.h"
#include "client/doctor/facts.h"

namespace guard::client {

class DoctorCommand final : public Command {
 public:
  // How it looks at the machine; a test passes one that it made up. `socket_flag`: of --socket.
  using Gather = doctor::Facts (*)(const std::string& socket_flag);
  explicit DoctorCommand(Gather gather) : gather_(gather) {}

  std::string_view name() const override { return "doctor"; }
  std::string_view summary() const override { return "tell what this machine lacks, and the fix"; }
  std::string help() const override;
  Result<int> run(std::span<const std::string> arguments, Context& context) const override;

 private:
  Gather gather_;
};

}  // namespace guard::client
