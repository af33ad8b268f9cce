// xenarch-guard's command line as a value.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/sandbox/policy_flags.h"

namespace guard::client {

enum class Verb : std::uint8_t { kRun, kCheck, kListSyscalls, kVersion, kHelp };

struct Options {
  Verb verb = Verb::kRun;
  sandbox::PolicyRequest request;
  std::vector<std::string> command;  // what follows `--`; not empty for kRun
  bool quiet = false;
  bool verbose = false;
  int json_report = -1;  // descriptor to write the JSON report to; -1: none
  friend bool operator==(const Options&, const Options&) = default;
};

// `arguments` without argv[0]; `cwd` as PolicyFlags takes it. kInvalid with a hint. --help and
// --version win over whatever else is there.
Result<Options> parse_options(std::span<const std::string> arguments, const std::string& cwd);

// The flags that are xenarch-guard's alone.
std::span<const sandbox::FlagRow> oneshot_flag_table();

}  // namespace guard::client
