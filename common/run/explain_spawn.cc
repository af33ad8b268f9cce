#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "common/base/shell_quote.h"
#include "common/base/visible.h"
#include "common/run/executable_file.h"
#include "common/run/granted.h"
#include "common/run/result.h"
#include "common/sandbox/path_text.h"
#include "common/sandbox/witness.h"

namespace guard::run {
namespace {

using sandbox::Stage;

struct Words {
  std::string message;
  std::string hint;
};

std::string quoted(std::string_view path) { return "'" + visible(path) + "'"; }

std::string allow_read(std::string_view resolved) {
  return "grant it: --allow-read " + shell_quote(prefix_to_grant(resolved));
}

std::string_view role_of(const ExecutableFile& file) {
  return file.kind == FileKind::kElf ? "loader" : "interpreter";
}

// What "Permission denied" was about when the file itself could be executed: the first piece of the
// chain program → interpreter → its loader that no grant covers.
Words explain_refusal(const std::string& path, const ExecutableFile& program,
                      const sandbox::Report* report) {
  if (report == nullptr || !report->confined()) {
    const std::string other =
        program.interpreter.empty()
            ? ""
            : fmt::format(" or its {} {}", role_of(program), quoted(program.interpreter));
    const std::string& read = program.resolved.empty() ? path : program.resolved;
    return {fmt::format("{}{} may not be executed", quoted(path), other), allow_read(read)};
  }
  std::string piece = path;
  std::string what = quoted(path);
  ExecutableFile file = program;
  for (int depth = 0; depth < 6; ++depth) {  // the kernel follows five interpreters
    if (!file.resolved.empty() && !is_granted(file.resolved, *report)) {
      const std::string leads = file.resolved == sandbox::absolute_path(piece, "/")
                                    ? ""
                                    : fmt::format(", which leads to {},", quoted(file.resolved));
      return {fmt::format("{}{} is not granted", what, leads), allow_read(file.resolved)};
    }
    if (file.interpreter.empty()) break;
    what = fmt::format("{} {} of {}", role_of(file), quoted(file.interpreter), quoted(piece));
    piece = file.interpreter;
    file = examine(piece);
    if (file.kind == FileKind::kDirectory) return {what + " is a directory", ""};
    if (!file.execute_bit) return {what + " is not executable", ""};
  }
  return {fmt::format("{} may not be executed", quoted(path)), "-v shows what is granted"};
}

Words explain_denied(const std::string& path, const ExecutableFile& file,
                     const sandbox::Report* report) {
  switch (file.kind) {
    case FileKind::kDirectory:
      return {quoted(path) + " is a directory", "name a program to run"};
    case FileKind::kSpecial:
      return {quoted(path) + " is not a regular file", "name a program to run"};
    case FileKind::kMissing:
      return {quoted(path) + " cannot be reached: Permission denied", ""};
    default:
      break;
  }
  if (file.noexec_mount) return {quoted(path) + " is on a file system mounted noexec", ""};
  if (!file.execute_bit) {
    return {quoted(path) + " is not executable",
            fmt::format("chmod +x {}, or name its interpreter first", shell_quote(path))};
  }
  return explain_refusal(path, file, report);
}

Words explain_missing(const std::string& path, const ExecutableFile& file) {
  if (path.find('/') == std::string::npos) {
    return {quoted(path) + " is not in PATH", "give its full path, or --env PATH=…"};
  }
  if (file.kind == FileKind::kDanglingSymlink) {
    return {fmt::format("{} is a symbolic link to {}, which does not exist", quoted(path),
                        quoted(file.link_target)),
            ""};
  }
  if (file.kind == FileKind::kMissing) return {quoted(path) + " does not exist", ""};
  if (file.trailing_cr) {
    return {fmt::format("the first line of {} ends in a carriage return", quoted(path)),
            "give it Unix line ends: sed -i 's/\\r$//'"};
  }
  if (!file.interpreter.empty()) {
    return {fmt::format("{} {} of {} does not exist", role_of(file), quoted(file.interpreter),
                        quoted(path)),
            file.kind == FileKind::kScript ? "mend the first line of the script" : ""};
  }
  return {fmt::format("{}: {}", quoted(path), std::strerror(ENOENT)), ""};
}

Words explain_format(const std::string& path, const ExecutableFile& file) {
  if (file.foreign) return {quoted(path) + " is a program for another machine", ""};
  if (file.kind == FileKind::kElf) return {quoted(path) + " is a damaged program", ""};
  if (file.kind == FileKind::kScript) {
    return {quoted(path) + " has no interpreter after its #!", "mend the first line of the script"};
  }
  return {quoted(path) + " is neither a program nor a script with a #! line",
          fmt::format("name its interpreter: sh {}", shell_quote(path))};
}

Words explain_exec(int error, const std::string& path, const sandbox::Report* report) {
  // Without a slash no one file is meant: a name that PATH did not have.
  const ExecutableFile file =
      path.find('/') == std::string::npos ? ExecutableFile{} : examine(path);
  switch (error) {
    case ENOENT:
      return explain_missing(path, file);
    case ENOTDIR:
      return {quoted(path) + " does not exist: a folder on the way is a file", ""};
    case EACCES:
      return explain_denied(path, file, report);
    case ENOEXEC:
      return explain_format(path, file);
    case E2BIG:
      return {"the arguments and the environment are too long together",
              "pass them in a file or through standard input"};
    case ETXTBSY:
      return {quoted(path) + " is open for writing", "try again when it has been closed"};
    case ELOOP:
      return {quoted(path) + " leads through too many symbolic links or interpreters", ""};
    case EAGAIN:
      return {quoted(path) + ": this user has too many processes", "end some of them"};
    case ENOMEM:
      return {quoted(path) + ": not enough memory", ""};
    default:
      return {fmt::format("{}: {}", quoted(path), std::strerror(error)), ""};
  }
}

Words explain_landlock(int error) {
  switch (error) {
    case E2BIG:
      return {"this would be the 17th Landlock layer; the kernel takes 16",
              "start it from outside one of the sandboxes that are nested here"};
    case EOPNOTSUPP:
      return {"Landlock is off on this kernel",
              "boot with landlock in lsm=, see /sys/kernel/security/lsm"};
    case ENOSYS:
      return {"this kernel has no Landlock", "Linux 5.13 has it"};
    default:
      return {fmt::format("landlock_restrict_self: {}", std::strerror(error)), ""};
  }
}

Words explain_seccomp(int error) {
  if (error == ENOMEM) {
    return {"the system call filters of the sandboxes nested here are too long together",
            "start it from outside one of them"};
  }
  return {fmt::format("seccomp: {}", std::strerror(error)), ""};
}

Words explain(Stage stage, int error, std::uint8_t axis, const std::string& path,
              const sandbox::Report* report) {
  switch (stage) {
    case Stage::kExec:
      return explain_exec(error, path, report);
    case Stage::kLandlock:
      return explain_landlock(error);
    case Stage::kSeccomp:
      return explain_seccomp(error);
    case Stage::kWitness:
      return {fmt::format("the sandbox does not hold: {} was let through",
                          sandbox::name_of(static_cast<sandbox::WitnessAxis>(axis))),
              "nothing was run; please report this kernel"};
    case Stage::kLimits:
      return {fmt::format("a limit cannot be set: {}", std::strerror(error)),
              "a limit may not be above the caller's own (ulimit -H -a)"};
    case Stage::kCapabilities:
      return {fmt::format("capabilities cannot be dropped: {}", std::strerror(error)), ""};
    case Stage::kNoNewPrivs:
      return {fmt::format("prctl(PR_SET_NO_NEW_PRIVS): {}", std::strerror(error)), ""};
    case Stage::kSetup:
      if (!path.empty()) {
        return {fmt::format("working directory {}: {}", quoted(path), std::strerror(error)), ""};
      }
      return {fmt::format("the run cannot be set up: {}", std::strerror(error)), ""};
    case Stage::kNone:
      break;
  }
  return {error == 0 ? "the run did not start" : std::strerror(error), ""};
}

}  // namespace

std::string prefix_to_grant(std::string_view resolved) {
  const std::size_t slash = resolved.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return std::string(resolved);
  const std::string_view folder = resolved.substr(0, slash);
  const std::size_t above = folder.rfind('/');
  const std::string_view name = folder.substr(above + 1);
  if (name != "bin" && name != "sbin") return std::string(resolved);
  return std::string(above == 0 || above == std::string_view::npos ? folder
                                                                   : folder.substr(0, above));
}

SpawnError explain_spawn(Stage stage, int os_errno, std::uint8_t axis, std::string path,
                         const sandbox::Report* report) {
  Words words = explain(stage, os_errno, axis, path, report);
  return {stage, os_errno, std::move(path), std::move(words.message), std::move(words.hint)};
}

}  // namespace guard::run
