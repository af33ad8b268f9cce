#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "client/doctor/findings.h"

namespace guard::doctor {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Finding container(const Facts& facts) {
  const std::string kind = container_of(facts.surroundings);
  if (kind.empty()) return {"container", Level::kOk, "not in a container that is known", ""};
  return {"container", Level::kOk,
          fmt::format("in a container ({}){}: what it hides, runs do not have either", kind,
                      facts.surroundings.seccomp_mode == 2 ? ", under a system call filter" : ""),
          ""};
}

void add_sandbox(const Facts& facts, Findings& found) {
  const SurroundingsFacts& here = facts.surroundings;
  if (!here.confined && here.unix_sockets) return;
  if (!here.unix_sockets) {
    found.push_back({"sandbox", Level::kProblem,
                     "inside a sandbox, such as a run of guardd: there is no way to guardd",
                     "xenarch-guard confines further without a daemon"});
    return;
  }
  if (facts.guardd.state == DaemonState::kRuns) {
    found.push_back({"sandbox", Level::kOk,
                     "this process is under no new privileges and a filter; a guardd answers", ""});
    return;
  }
  found.push_back({"sandbox", Level::kProblem,
                   "this process is under no new privileges and a system call filter: guardctl "
                   "takes that for a sandbox and starts no guardd",
                   "start guardd by hand (guardd &), use xenarch-guard, or leave out the "
                   "container's no-new-privileges"});
}

// Used to kill a run where Landlock's signal scope cannot (below ABI 6), and for no limit.
Finding cgroup(const SurroundingsFacts& here) {
  constexpr const char* kUse = "; used for the tree kill below Landlock ABI 6, for no limit";
  if (!here.cgroup_v2) return {"cgroup", Level::kNote, std::string("no cgroup v2") + kUse, ""};
  if (here.cgroup_delegated) {
    return {"cgroup", Level::kOk, std::string("cgroup v2, this group is ours to change") + kUse,
            ""};
  }
  return {"cgroup", Level::kNote, std::string("cgroup v2, not delegated to this user") + kUse,
          "systemctl --user enable --now guardd.socket: that unit has Delegate=yes"};
}

Finding systemd_user(const SurroundingsFacts& here) {
  if (here.systemd_user) {
    return {"systemd_user", Level::kOk,
            "the user's systemd instance runs, and may hold guardd's socket (guardd.socket)", ""};
  }
  return {"systemd_user", Level::kNote,
          "no systemd instance of this user: guardctl starts guardd when it is needed", ""};
}

}  // namespace

std::string container_of(const SurroundingsFacts& here) {
  if (here.kubernetes || has(here.cgroup, "kubepods")) return "kubernetes";
  if (here.containerenv || here.container == "podman" || has(here.cgroup, "libpod")) {
    return "podman";
  }
  if (here.dockerenv || here.container == "docker" || has(here.cgroup, "/docker/") ||
      has(here.cgroup, "/docker-")) {
    return "docker";
  }
  if (!here.container.empty()) return here.container;  // lxc, systemd-nspawn, …
  if (has(here.cgroup, "/lxc")) return "lxc";
  return "";
}

Machine machine_of(const KernelFacts& kernel) {
  const std::string& release = kernel.support.release;
  // gVisor's /proc/version was this constant before its release told the name.
  if (has(lower(release), "gvisor") || has(lower(kernel.version), "gvisor") ||
      has(kernel.version, "#1 SMP Sun Jan 10 15:06:54 PST 2016")) {
    return Machine::kGvisor;
  }
  if (!has(lower(release), "microsoft")) return Machine::kPlain;
  // 4.4.0-19041-Microsoft, and 5.15.90.1-microsoft-standard-WSL2
  return has(release, "-Microsoft") ? Machine::kWsl1 : Machine::kWsl2;
}

Findings surroundings_findings(const Facts& facts) {
  Findings found{container(facts)};
  add_sandbox(facts, found);
  found.push_back(cgroup(facts.surroundings));
  found.push_back(systemd_user(facts.surroundings));
  return found;
}

}  // namespace guard::doctor
