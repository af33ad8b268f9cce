#include <fmt/format.h>

#include "client/doctor/findings.h"
#include "common/base/version.h"

namespace guard::doctor {
namespace {

// Fewer than these are met by a busy guardd.
constexpr std::uint64_t kDescriptors = 2048;
constexpr std::uint64_t kProcessesLeft = 64;

std::string quoted(const std::string& path) { return "'" + path + "'"; }

std::string hint_of(const Error& error, const char* otherwise) {
  return error.hint.empty() ? otherwise : error.hint;
}

Finding running(const GuarddFacts& guardd) {
  const client::DaemonFacts& daemon = guardd.daemon;
  if (daemon.version != kVersion) {
    return {"guardd", Level::kWarning,
            fmt::format("guardd {} runs (pid {}), and guardctl is {}", daemon.version, daemon.pid,
                        kVersion),
            "guardctl daemon stop; the next run starts the one that is installed"};
  }
  return {"guardd", Level::kOk, fmt::format("guardd {} runs (pid {})", daemon.version, daemon.pid),
          ""};
}

Finding state(const Facts& facts) {
  const GuarddFacts& guardd = facts.guardd;
  switch (guardd.state) {
    case DaemonState::kRuns:
      return running(guardd);
    case DaemonState::kDoesNotAnswer:
      return {"guardd", Level::kProblem,
              guardd.silence ? guardd.silence->message() : "guardd does not answer",
              guardd.silence ? hint_of(*guardd.silence, "its log: guardd.log beside the socket")
                             : "its log: guardd.log beside the socket"};
    case DaemonState::kHeld:
      return {"guardd", Level::kNote,
              "guardd does not run; somebody listens in its place, as systemd does to start it at "
              "the first call",
              "systemctl --user status guardd.socket tells whether it is systemd"};
    case DaemonState::kNone:
      break;
  }
  return {"guardd", Level::kNote, "guardd does not run; guardctl run and check start it",
          "guardctl daemon start, to have it before"};
}

// A guardd compiles with what it found when it was started.
void add_other_kernel(const Facts& facts, Findings& found) {
  const client::DaemonFacts& daemon = facts.guardd.daemon;
  const int ours = facts.kernel.support.landlock_abi;
  if (facts.guardd.state != DaemonState::kRuns || facts.kernel.not_probed ||
      daemon.landlock_abi == ours) {
    return;
  }
  found.push_back({"guardd_landlock", Level::kWarning,
                   fmt::format("guardd uses Landlock ABI {}, and {} is seen from here",
                               daemon.landlock_abi, ours),
                   "guardctl daemon stop, and start it with the same GUARD_LANDLOCK_ABI_MAX, or "
                   "with none"});
}

std::string reason_of(os::SocketSource source) {
  switch (source) {
    case os::SocketSource::kFlag:
      return "by --socket";
    case os::SocketSource::kVariable:
      return "by $GUARDD_SOCKET";
    case os::SocketSource::kXdgRuntimeDir:
      return "by $XDG_RUNTIME_DIR";
    case os::SocketSource::kRunUser:
      return "in this user's runtime folder, since XDG_RUNTIME_DIR is not set";
    case os::SocketSource::kScratch:
      return "in the place of last resort: XDG_RUNTIME_DIR is not set and there is no /run/user of "
             "ours";
  }
  return "";
}

Finding socket(const GuarddFacts& guardd) {
  if (!guardd.socket) {
    return {"socket", Level::kProblem, guardd.socket.error().message(),
            hint_of(guardd.socket.error(), "name another with --socket")};
  }
  return {"socket", Level::kOk,
          fmt::format("socket {}, {} ({} bytes of 107)", quoted(guardd.socket->path),
                      reason_of(guardd.socket->source), guardd.socket->path.size()),
          ""};
}

bool chosen_by(const GuarddFacts& guardd, os::SocketSource source) {
  return guardd.socket && guardd.socket->source == source;
}

Finding xdg_runtime_dir(const Facts& facts) {
  const std::string id = "xdg_runtime_dir";
  const GuarddFacts& guardd = facts.guardd;
  const std::string& folder = guardd.xdg_runtime_dir;
  if (folder.empty()) {
    if (chosen_by(guardd, os::SocketSource::kScratch)) {
      return {id, Level::kNote,
              "XDG_RUNTIME_DIR is not set: a session of yours that has it looks for another guardd",
              "set GUARDD_SOCKET to the same in both, or XDG_RUNTIME_DIR"};
    }
    return {
        id, Level::kNote, "XDG_RUNTIME_DIR is not set",
        fmt::format("export XDG_RUNTIME_DIR=/run/user/{}, if that exists", facts.surroundings.uid)};
  }
  if (folder[0] != '/') {
    return {id, Level::kNote, "XDG_RUNTIME_DIR " + quoted(folder) + " is not absolute, so ignored",
            "unset it, or set it to an absolute path"};
  }
  if (!guardd.xdg_runtime_dir_ours) {
    const bool needed = chosen_by(guardd, os::SocketSource::kXdgRuntimeDir);
    return {id, needed ? Level::kProblem : Level::kNote,
            "XDG_RUNTIME_DIR " + quoted(folder) + " is not a folder of this user's",
            "unset XDG_RUNTIME_DIR (sudo and su keep another user's), or log in as this user"};
  }
  return {id, Level::kOk, "XDG_RUNTIME_DIR is " + quoted(folder), ""};
}

Finding folder(std::string id, std::string what, const FolderFacts& folder, const char* otherwise) {
  const std::string name = what + " " + quoted(folder.path);
  if (folder.wrong) {
    const std::string text = folder.missing ? name + " cannot be made: " + folder.wrong->message()
                                            : what + " " + folder.wrong->message();
    return {std::move(id), Level::kProblem, text, hint_of(*folder.wrong, otherwise)};
  }
  if (folder.missing) {
    return {std::move(id), Level::kOk, name + " is made at the first start", ""};
  }
  return {std::move(id), Level::kOk, name + " is ours alone", ""};
}

Finding scratch(const FolderFacts& at) {
  Finding found = folder("scratch_folder", "folder of private HOME and TMPDIR", at,
                         "let this user make folders in /var/tmp (its mode is 1777)");
  if (found.level == Level::kOk && at.no_exec) {
    found.level = Level::kWarning;
    found.text += ", on a file system that executes nothing (noexec)";
    found.fix = "mount /var/tmp without noexec, or let programs build in a write grant";
  }
  return found;
}

Finding program(const GuarddFacts& guardd) {
  const InstallationFacts& installed = guardd.installed;
  if (!installed.guardd.empty()) {
    return {"guardd_program", Level::kOk, "guardd is " + quoted(installed.guardd), ""};
  }
  const bool needed = guardd.state != DaemonState::kRuns;
  return {"guardd_program", needed ? Level::kProblem : Level::kWarning,
          "no guardd in " + quoted(installed.beside) + ", ../libexec/guardd or ../sbin",
          "install guardd and guardctl together, or start guardd by hand"};
}

void add_companions(const InstallationFacts& installed, Findings& found) {
  if (installed.guardd.empty()) return;
  if (installed.launcher.empty()) {
    found.push_back({"guard_launcher", Level::kProblem,
                     "no guard-launcher beside guardd or in ../libexec/guardd",
                     "build or install it beside guardd"});
  } else {
    found.push_back(
        {"guard_launcher", Level::kOk, "guard-launcher is " + quoted(installed.launcher), ""});
  }
  if (installed.shim.empty()) {
    found.push_back(
        {"shared_memory", Level::kNote,
         "no libguard-shm.so: shared memory (Python's multiprocessing) does not work in "
         "runs",
         "install libguard-shm.so beside guardd or in ../lib/guardd"});
  } else {
    found.push_back(
        {"shared_memory", Level::kOk, "libguard-shm.so is " + quoted(installed.shim), ""});
  }
}

Finding open_files(const Limit& limit) {
  if (limit.maximum && *limit.maximum < kDescriptors) {
    return {"open_files", Level::kWarning,
            fmt::format("at most {} open files (RLIMIT_NOFILE, hard): guardd holds several a run",
                        *limit.maximum),
            "raise it: LimitNOFILE= of the unit, or nofile in /etc/security/limits.conf"};
  }
  return {"open_files", Level::kOk,
          limit.maximum ? fmt::format("up to {} open files", *limit.maximum)
                        : "any number of open files",
          ""};
}

Finding processes(const Facts& facts) {
  const Limit& limit = facts.guardd.processes;
  const std::string id = "processes";
  if (!limit.maximum || facts.surroundings.uid == 0) {
    return {id, Level::kOk, "no limit of processes", ""};
  }
  const std::uint64_t left = *limit.maximum > limit.used ? *limit.maximum - limit.used : 0;
  if (left < kProcessesLeft) {
    return {id, left == 0 ? Level::kProblem : Level::kWarning,
            fmt::format("of {} processes that this user may have, {} are left (RLIMIT_NPROC)",
                        *limit.maximum, left),
            "raise it: ulimit -u, or nproc in /etc/security/limits.conf"};
  }
  return {id, Level::kOk,
          fmt::format("{} of {} processes that this user may have", limit.used, *limit.maximum),
          ""};
}

}  // namespace

Findings guardd_findings(const Facts& facts) {
  const GuarddFacts& guardd = facts.guardd;
  Findings found{state(facts)};
  add_other_kernel(facts, found);
  found.push_back(socket(guardd));
  found.push_back(xdg_runtime_dir(facts));
  if (guardd.socket) {
    found.push_back(folder("socket_folder", "the socket's folder", guardd.folder,
                           "name another with --socket"));
  }
  found.push_back(program(guardd));
  add_companions(guardd.installed, found);
  found.push_back(scratch(guardd.scratch));
  found.push_back(open_files(guardd.open_files));
  found.push_back(processes(facts));
  return found;
}

}  // namespace guard::doctor
