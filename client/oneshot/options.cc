#include "client/oneshot/options.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "common/base/nearest.h"
#include "common/base/visible.h"

namespace guard::client {
namespace {

using sandbox::FlagRow;
using sandbox::FlagText;
using sandbox::PolicyFlags;

constexpr FlagRow kTable[] = {
    {"--allow-tty-modes", "",
     "let the command change your terminal's modes: editors,\n"
     "full-screen programs, line editing; nobody restores them"},
    {"--check", "", "print the report to stdout and run nothing"},
    {"--quiet", "", "no report and no notes, errors only (-q)"},
    {"--verbose", "", "everything that the report knows (-v)"},
    {"--json-report", "FD", "write the report as one line of JSON to this descriptor"},
    {"--list-syscalls", "", "print what the system call filter refuses, and why"},
    {"--version", "", "print the version"},
    {"--help", "", "print this (-h)"},
};

struct Short {
  std::string_view from, to;
};
constexpr Short kShort[] = {{"-q", "--quiet"}, {"-v", "--verbose"}, {"-h", "--help"}};

std::string_view long_form(std::string_view flag) {
  const auto found = std::ranges::find(kShort, flag, &Short::from);
  return found == std::end(kShort) ? flag : found->to;
}

// Flags of `guardctl run`.
constexpr sandbox::FlagElsewhere kElsewhere[] = {
    {"--timeout", "nobody stays to watch the time here; guardctl run has --timeout"},
    {"--grace", "nobody stays to watch the time here; guardctl run has --grace"},
    {"--no-stdin", "write </dev/null after the command"},
    {"-n", "write </dev/null after the command"},
    {"--json", "--json-report FD writes the report as JSON"},
    {"--socket", "no guardd takes part here; guardctl run has --socket"},
};

// Flags of other tools of this kind, and words for what an allow list cannot say.
std::string hint_for_unknown(std::string_view flag) {
  if (const std::string_view hint = find_elsewhere(kElsewhere, flag); !hint.empty()) {
    return std::string(hint);
  }
  if (flag.starts_with("--deny") || flag.starts_with("--block")) {
    return "this is an allow list: what is not granted is refused, and nothing inside a grant can "
           "be "
           "taken away";
  }
  std::vector<std::string_view> known;
  for (const FlagRow& row : sandbox::policy_flag_table()) known.push_back(row.name);
  for (const FlagRow& row : kTable) known.push_back(row.name);
  const std::string_view near = nearest(flag, known);
  if (!near.empty()) return "did you mean " + std::string(near) + "?";
  return "--help lists the flags; the command comes after --";
}

class Parser {
 public:
  Parser(std::span<const std::string> arguments, const std::string& cwd)
      : arguments_(arguments), policy_(cwd) {}

  Result<Options> parse() {
    while (index_ < arguments_.size()) {
      if (arguments_[index_] == "--") {
        options_.command.assign(arguments_.begin() + static_cast<std::ptrdiff_t>(index_) + 1,
                                arguments_.end());
        return finish(true);
      }
      GUARD_TRY(take_one());
      if (options_.verb == Verb::kHelp || options_.verb == Verb::kVersion) return options_;
    }
    return finish(false);
  }

 private:
  Result<> take_one() {
    GUARD_ASSIGN(const bool is_policy, policy_.consume(arguments_, index_));
    if (is_policy) return {};
    const std::string& argument = arguments_[index_];
    const FlagText flag = sandbox::split_flag(argument);
    if (flag.name.empty()) {
      return failure(Errc::kInvalid, "'" + visible(argument) + "' is no flag",
                     "put -- before the command: xenarch-guard [flags] -- command");
    }
    const FlagRow* row = sandbox::find_flag(kTable, long_form(flag.name));
    if (row == nullptr) {
      return failure(Errc::kInvalid, "unknown flag '" + visible(flag.name) + "'",
                     hint_for_unknown(flag.name));
    }
    ++index_;
    if (row->name == "--json-report") return take_json_report(flag.value);
    if (flag.value) return failure(Errc::kInvalid, std::string(row->name) + " takes no value");
    take_switch(row->name);
    return {};
  }

  Result<> take_json_report(std::optional<std::string_view> value) {
    if (options_.json_report >= 0) return sandbox::given_twice("--json-report");
    if (!value && index_ < arguments_.size()) value = arguments_[index_++];
    if (!value) return failure(Errc::kInvalid, "--json-report lacks its FD");
    int fd = -1;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), fd);
    if (value->empty() || error != std::errc{} || end != value->data() + value->size() || fd < 1) {
      return failure(Errc::kInvalid, "--json-report '" + visible(*value) + "' is no descriptor",
                     "a number from 1; as in: --json-report 3 3>report.json");
    }
    options_.json_report = fd;
    return {};
  }

  void take_switch(std::string_view name) {
    if (name == "--allow-tty-modes") allow_tty_modes_ = true;
    if (name == "--quiet") options_.quiet = true;
    if (name == "--verbose") options_.verbose = true;
    if (name == "--check") options_.verb = Verb::kCheck;
    if (name == "--list-syscalls") options_.verb = Verb::kListSyscalls;
    if (name == "--version") options_.verb = Verb::kVersion;
    if (name == "--help") options_.verb = Verb::kHelp;
  }

  Result<Options> finish(bool has_separator) {
    GUARD_ASSIGN(options_.request, policy_.finish());
    options_.request.policy.allow_tty_modes = allow_tty_modes_;
    if (options_.quiet && options_.verbose) {
      return failure(Errc::kInvalid, "--quiet and --verbose contradict each other", "choose one");
    }
    if (options_.verb == Verb::kRun && options_.command.empty()) {
      return failure(Errc::kInvalid,
                     has_separator ? "nothing comes after --" : "there is no command",
                     "as in: xenarch-guard --allow-write ./workspace -- python3 agent.py");
    }
    return options_;
  }

  std::span<const std::string> arguments_;
  std::size_t index_ = 0;
  PolicyFlags policy_;
  bool allow_tty_modes_ = false;
  Options options_;
};

}  // namespace

std::span<const FlagRow> oneshot_flag_table() { return kTable; }

Result<Options> parse_options(std::span<const std::string> arguments, const std::string& cwd) {
  return Parser(arguments, cwd).parse();
}

}  // namespace guard::client
