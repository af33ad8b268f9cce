// The command lines of the verbs that take a few flags and operands.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/context.h"
#include "client/cli/flags.h"
#include "common/base/result.h"

namespace guard::client {

struct CommandLine {
  std::vector<GivenFlag> flags;  // in their order; borrow from the arguments
  std::vector<std::string> operands;

  bool has(std::string_view flag) const { return value_of(flag).has_value(); }
  // Empty for a switch.
  std::optional<std::string_view> value_of(std::string_view flag) const;
};

// "-" and what does not begin with it is an operand, and everything after "--". kInvalid as
// take_flag(), and for a flag whose value is given twice. With --help nothing else counts.
Result<CommandLine> parse_command_line(std::span<const std::string> arguments,
                                       std::span<const sandbox::FlagRow> table,
                                       std::span<const ShortFlag> short_forms);

// guardd's socket by --socket and the environment.
Result<std::string> socket_of(const CommandLine& line);

// A client of a guardd that runs; none is started. none_listens() tells that there is none.
Result<std::unique_ptr<GuardClient>> connect_to_running(const CommandLine& line, Context& context);

// Rows that several tables have.
inline constexpr sandbox::FlagRow kSocketRow{"--socket", "PATH", "guardd's socket"};
inline constexpr sandbox::FlagRow kHelpRow{"--help", "", "print this (-h)"};
inline constexpr ShortFlag kHelpShort{"-h", "--help"};

// The id that `text` is, or begins: of the runs in `list` only one may. None does: `text` as it is,
// for guardd to judge. kInvalid, with the candidates, when there are several.
Result<std::string> find_run_id(std::string_view text, const std::vector<run::Info>& list);

}  // namespace guard::client
