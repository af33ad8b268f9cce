// A verb of guardctl. Commands are listed by hand in guardctl.cc; nothing registers itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "client/cli/context.h"

namespace guard::client {

class Command {
 public:
  virtual ~Command() = default;

  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;  // of one line, for `guardctl help`
  virtual std::string help() const = 0;          // everything, for `guardctl help NAME`

  // The exit code, or an error that the caller tells and exit_code_for() numbers. `arguments`:
  // what follows the verb.
  virtual Result<int> run(std::span<const std::string> arguments, Context& context) const = 0;
  virtual int exit_code_for(const Error& error) const;
};

// Exit codes of every verb but `run` and `wait` (docs/exit_codes.md).
inline constexpr int kExitNo = 1;
inline constexpr int kExitBadUsage = 2;
inline constexpr int kExitInfrastructure = 5;

}  // namespace guard::client
