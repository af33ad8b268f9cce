#include "client/oneshot/help.h"

#include <span>
#include <string_view>

#include "client/oneshot/options.h"
#include "common/sandbox/policy_flags.h"
#include "common/sandbox/seccomp/syscall_sets.h"

namespace guard::client {
namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string flag_lines(std::span<const sandbox::FlagRow> table) {
  constexpr std::size_t kColumn = 27;
  std::string text;
  for (const sandbox::FlagRow& row : table) {
    std::string left = "  " + std::string(row.name);
    if (!row.argument.empty()) left += " " + std::string(row.argument);
    text += padded(std::move(left), kColumn);
    for (const char c : row.help) {
      text += c;
      if (c == '\n') text.append(kColumn, ' ');
    }
    text += '\n';
  }
  return text;
}

constexpr std::string_view kTop =
    R"(usage: xenarch-guard [flags] -- command [argument...]

Confines itself with Landlock and a system call filter, then becomes the command: no daemon, no
fork, no root. What is not granted is refused by the kernel, for the command and all it starts.

  xenarch-guard --allow-write ./workspace -- python3 agent.py
  xenarch-guard --allow-read ./data --allow-connect 8080 -- curl http://127.0.0.1:8080/
  xenarch-guard --check --allow-write ./workspace

Granted without asking: system programs and libraries, the working directory for reading, a private
HOME and TMPDIR, a short list of environment variables. No network.

policy:
)";

constexpr std::string_view kBottom = R"(
Exits as the command does (it is the command); 125: nothing was run, 126: the command cannot be
executed, 127: it was not found.
)";

}  // namespace

std::string help_text() {
  return std::string(kTop) + flag_lines(sandbox::policy_flag_table()) + "\nthis program:\n" +
         flag_lines(oneshot_flag_table()) + std::string(kBottom);
}

std::string syscall_text(const seccomp::FilterSpec& spec) {
  std::string text;
  for (const seccomp::SyscallRule& rule : seccomp::list(spec)) {
    text += padded(rule.name, 20) + " " + padded(rule.verdict, 16);
    if (!rule.condition.empty()) text += " when " + rule.condition + ";";
    text += " " + rule.reason + "\n";
  }
  return text;
}

}  // namespace guard::client
