// Flags of a command from its table, and the help that the same table makes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/sandbox/policy_flags.h"

namespace guard::client {

struct ShortFlag {
  std::string_view from, to;  // "-v", "--verbose"
};

struct GivenFlag {
  std::string_view name;   // its long form, of the table
  std::string_view value;  // empty for a switch
};

struct FlagTables {
  std::span<const sandbox::FlagRow> own;
  std::span<const ShortFlag> short_forms;
  std::span<const sandbox::FlagRow> others = {};           // which somebody else takes
  std::span<const sandbox::FlagElsewhere> elsewhere = {};  // of our other commands
};

// The flag at arguments[index], with its value ("--flag value", "--flag=value"); moves `index` past
// it. kInvalid: no flag, none of `own` (with what to use instead, or the nearest of `own` and
// `others`), a value too many or too few. A value is taken as it is, empty too.
Result<GivenFlag> take_flag(std::span<const std::string> arguments, std::size_t& index,
                            const FlagTables& tables);

// "  --timeout DURATION     text", a line or more each.
std::string flag_help(std::span<const sandbox::FlagRow> table);

}  // namespace guard::client
