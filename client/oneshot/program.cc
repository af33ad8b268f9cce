#include "client/oneshot/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <span>

#include "client/oneshot/messages.h"
#include "common/run/exit_code.h"
#include "common/run/spec.h"
#include "common/sandbox/environment.h"

namespace guard::client {
namespace {

using sandbox::Stage;

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  list.reserve(strings.size() + 1);
  for (const std::string& text : strings) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

bool exists(const std::string& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0;
}

// ETXTBSY: somebody else, a compiler perhaps, is just closing the file.
int try_execute(const std::string& file, char* const* argv, char* const* environment) {
  constexpr int kTries = 6;
  for (int attempt = 0;; ++attempt) {
    ::execve(file.c_str(), argv, environment);
    if (errno != ETXTBSY || attempt == kTries) return errno;
    const timespec pause{0, 10'000'000L << (attempt < 3 ? attempt : 3)};
    ::nanosleep(&pause, nullptr);
  }
}

// Whether execvp(3) goes on with the next entry of PATH.
bool goes_on(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case ESTALE:
    case ENODEV:
    case ETIMEDOUT:
    case ENAMETOOLONG:
    case ELOOP:
      return true;
    default:
      return false;
  }
}

struct Failed {
  std::string file;
  int error = 0;
};

void note_passed_over(const Failed& failed, std::span<const std::string> later,
                      const sandbox::Report& report) {
  for (const std::string& file : later) {
    if (!exists(file)) continue;
    const run::SpawnError why =
        run::explain_spawn(Stage::kExec, failed.error, 0, failed.file, &report);
    say_note("passed over: " + why.message + (why.hint.empty() ? "" : " (" + why.hint + ")"));
    return;
  }
}

ExecFailure explain(const Failed& failed, const sandbox::Report& report) {
  ExecFailure failure;
  failure.error = run::explain_spawn(Stage::kExec, failed.error, 0, failed.file, &report);
  failure.exit_code = run::exit_code_for(failure.error);
  return failure;
}

}  // namespace

ExecFailure execute(const Program& program, const sandbox::Report& report) {
  const std::vector<char*> argv = pointers(program.argv);
  const std::vector<char*> environment = pointers(program.environment);
  std::string_view path = sandbox::value_of(program.environment, "PATH");
  if (path.empty()) path = run::kDefaultPath;
  const std::string& name = program.argv.front();
  const std::vector<std::string> candidates = run::exec_candidates(name, path);

  std::optional<Failed> refused;  // the first one that is there
  int last = ENOENT;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Failed failed{candidates[i], try_execute(candidates[i], argv.data(), environment.data())};
    if (!goes_on(failed.error)) return explain(failed, report);
    last = failed.error;
    if (refused || !exists(failed.file)) continue;
    refused = failed;
    if (!program.quiet) {
      note_passed_over(failed, std::span(candidates).subspan(i + 1), report);
    }
  }
  if (refused) return explain(*refused, report);
  return explain({name, name.contains('/') ? last : ENOENT}, report);
}

}  // namespace guard::client
