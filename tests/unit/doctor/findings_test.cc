#include "client/doctor/findings.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/version.h"

namespace guard::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

// A machine on which nothing is amiss and guardd runs.
Facts good() {
  Facts facts;
  facts.kernel.support = {.landlock_abi = 9,
                          .landlock_abi_kernel = 9,
                          .landlock_errata = 7,
                          .seccomp_filter = true,
                          .pidfd = true,
                          .close_range = true,
                          .release = "7.1.2"};
  facts.kernel.ptrace_scope = 1;
  facts.surroundings.uid = 1000;
  facts.surroundings.cgroup_v2 = true;
  facts.surroundings.cgroup_delegated = true;
  facts.surroundings.systemd_user = true;
  GuarddFacts& guardd = facts.guardd;
  guardd.socket =
      os::SocketChoice{"/run/user/1000/guardd/guardd.sock", os::SocketSource::kXdgRuntimeDir};
  guardd.xdg_runtime_dir = "/run/user/1000";
  guardd.xdg_runtime_dir_ours = true;
  guardd.folder.path = "/run/user/1000/guardd";
  guardd.scratch.path = "/var/tmp/guardd-1000";
  guardd.installed = {.guardd = "/usr/local/bin/guardd",
                      .beside = "/usr/local/bin",
                      .launcher = "/usr/local/libexec/guardd/guard-launcher",
                      .shim = "/usr/local/lib/guardd/libguard-shm.so"};
  guardd.state = DaemonState::kRuns;
  guardd.daemon.version = kVersion;
  guardd.daemon.pid = 4711;
  guardd.daemon.landlock_abi = 9;
  return facts;
}

Facts with(const std::function<void(Facts&)>& change) {
  Facts facts = good();
  change(facts);
  return facts;
}

Facts without_landlock(const std::function<void(Facts&)>& change) {
  return with([&](Facts& facts) {
    facts.kernel.support.landlock_abi = facts.kernel.support.landlock_abi_kernel = 0;
    facts.kernel.landlock_errno = ENOSYS;
    change(facts);
  });
}

// An empty one when it is not told.
Finding find(const Facts& facts, std::string_view id) {
  const Findings all = findings(facts);
  const auto found = std::ranges::find(all, id, &Finding::id);
  return found == all.end() ? Finding{} : *found;
}

Level worst(const Facts& facts) {
  Level level = Level::kOk;
  for (const Finding& finding : findings(facts)) level = std::max(level, finding.level);
  return level;
}

TEST(Findings, OfAMachineOnWhichNothingIsAmissAreAllFine) {
  for (const Finding& finding : findings(good())) {
    EXPECT_EQ(finding.level, Level::kOk) << finding.id << ": " << finding.text;
  }
  EXPECT_EQ(find(good(), "enforcement").text, "runs are confined: 11 protections of 11 in full");
}

TEST(Findings, OfAProblemAndAWarningHaveAFixAndEachIsOneLine) {
  const std::vector<Facts> machines = {
      without_landlock([](Facts&) {}),
      without_landlock([](Facts& f) { f.kernel.support.landlock_off_at_boot = true; }),
      without_landlock([](Facts& f) { f.kernel.support.release = "4.4.0-19041-Microsoft"; }),
      with([](Facts& f) { f.kernel.support.landlock_abi = 1; }),
      with([](Facts& f) { f.kernel.support.seccomp_filter = false; }),
      with([](Facts& f) { f.kernel.no_new_privs = f.kernel.support.pidfd = false; }),
      with([](Facts& f) { f.surroundings.unix_sockets = false; }),
      with([](Facts& f) { f.guardd = {}; }),
      with([](Facts& f) { f.guardd.socket = failure(Errc::kInvalid, "too long"); }),
      with([](Facts& f) {
        f.guardd.folder.wrong = Error{Errc::kDenied, "'/x' is not ours", 0, ""};
      }),
      with([](Facts& f) { f.guardd.scratch.no_exec = true; }),
      with([](Facts& f) { f.guardd.processes = {.maximum = 10, .used = 12}; }),
      with([](Facts& f) { f.guardd.open_files.maximum = 64; }),
  };
  for (const Facts& facts : machines) {
    EXPECT_GE(worst(facts), Level::kWarning);
    for (const Finding& finding : findings(facts)) {
      if (finding.level >= Level::kWarning) {
        EXPECT_NE(finding.fix, "") << finding.id;
      }
      EXPECT_THAT(finding.text + finding.fix, Not(HasSubstr("\n"))) << finding.id;
      EXPECT_NE(finding.text, "") << finding.id;
    }
  }
}

TEST(Findings, NameNoIdTwice) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings(good())) ids.push_back(finding.id);
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

TEST(Kernel, ThatIsTooOldIsAProblem) {
  const Facts facts = without_landlock([](Facts& f) { f.kernel.support.release = "5.10.0-28"; });
  EXPECT_EQ(find(facts, "kernel").level, Level::kProblem);
  EXPECT_THAT(find(facts, "landlock").text, HasSubstr("older"));
}

TEST(Kernel, OfWsl1IsToldFromThatOfWsl2) {
  KernelFacts kernel;
  kernel.support.release = "4.4.0-19041-Microsoft";
  EXPECT_EQ(machine_of(kernel), Machine::kWsl1);
  kernel.support.release = "5.15.90.1-microsoft-standard-WSL2";
  EXPECT_EQ(machine_of(kernel), Machine::kWsl2);
  kernel.support.release = "6.12.9";
  EXPECT_EQ(machine_of(kernel), Machine::kPlain);
  const Facts wsl1 =
      without_landlock([](Facts& f) { f.kernel.support.release = "4.4.0-19041-Microsoft"; });
  EXPECT_EQ(find(wsl1, "kernel").level, Level::kProblem);
  EXPECT_THAT(find(wsl1, "kernel").fix, HasSubstr("wsl --set-version"));
}

TEST(Kernel, OfGvisorIsKnownByItsNameAndByItsOldVersion) {
  KernelFacts kernel;
  kernel.support.release = "4.19.0-gvisor";
  EXPECT_EQ(machine_of(kernel), Machine::kGvisor);
  kernel.support.release = "4.4.0";
  EXPECT_EQ(machine_of(kernel), Machine::kPlain);
  kernel.version = "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016";
  EXPECT_EQ(machine_of(kernel), Machine::kGvisor);
}

TEST(Kernel, ThatCouldNotBeAskedIsToldWithTheVariableToMend) {
  const Facts facts = with([](Facts& f) {
    f.kernel.not_probed = Error{Errc::kInvalid, "GUARD_LANDLOCK_ABI_MAX is 'x'", 0, "unset it"};
  });
  EXPECT_EQ(find(facts, "kernel"),
            (Finding{"kernel", Level::kProblem, "GUARD_LANDLOCK_ABI_MAX is 'x'", "unset it"}));
  EXPECT_EQ(find(facts, "enforcement"), Finding{});  // nothing is guessed
}

TEST(Landlock, OffAtBootNamesTheListToBootWith) {
  const auto off = [](Facts& f) {
    f.kernel.landlock_errno = EOPNOTSUPP;
    f.kernel.support.landlock_off_at_boot = true;
    f.kernel.lsm = "capability,yama";
  };
  const Finding finding = find(without_landlock(off), "landlock");
  EXPECT_THAT(finding.text, HasSubstr("off at boot"));
  EXPECT_THAT(finding.fix, HasSubstr("lsm=landlock,capability,yama"));
  const Facts wsl2 = without_landlock([&](Facts& f) {
    off(f);
    f.kernel.support.release = "5.15.90.1-microsoft-standard-WSL2";
  });
  EXPECT_THAT(find(wsl2, "landlock").fix, HasSubstr(".wslconfig"));
}

TEST(Landlock, HiddenByAContainersFilterIsToldFromNotBuiltIn) {
  const auto in_docker = [](Facts& f) {
    f.surroundings.dockerenv = true;
    f.surroundings.seccomp_mode = 2;
  };
  // EPERM is no answer of the kernel's own.
  const Facts refused = without_landlock([&](Facts& f) {
    in_docker(f);
    f.kernel.landlock_errno = EPERM;
  });
  EXPECT_THAT(find(refused, "landlock").text, HasSubstr("hidden by a system call filter"));
  EXPECT_THAT(find(refused, "landlock").fix, HasSubstr("--security-opt seccomp="));
  const Facts pretended = without_landlock([&](Facts& f) {
    in_docker(f);
    f.kernel.landlock_built_in = true;
  });
  EXPECT_THAT(find(pretended, "landlock").text, HasSubstr("built in, and hidden"));
  const Facts absent = without_landlock([&](Facts& f) {
    in_docker(f);
    f.kernel.landlock_built_in = false;
  });
  EXPECT_THAT(find(absent, "landlock").fix, HasSubstr("CONFIG_SECURITY_LANDLOCK"));
  EXPECT_THAT(find(without_landlock(in_docker), "landlock").text, HasSubstr("not built in, or"));
  // Without a filter nothing could hide it.
  EXPECT_THAT(find(without_landlock([](Facts&) {}), "landlock").text, HasSubstr("not built into"));
}

TEST(Landlock, InAPodItsFixIsThePods) {
  const Facts facts = without_landlock([](Facts& f) {
    f.kernel.landlock_errno = EPERM;
    f.surroundings.kubernetes = true;
  });
  EXPECT_THAT(find(facts, "landlock").fix, HasSubstr("securityContext"));
}

TEST(Landlock, LoweredByTheVariableSaysSo) {
  const Finding finding =
      find(with([](Facts& f) { f.kernel.support.landlock_abi = 3; }), "landlock");
  EXPECT_EQ(finding.level, Level::kWarning);
  EXPECT_EQ(finding.fix, "unset GUARD_LANDLOCK_ABI_MAX");
}

TEST(Landlock, ErrataThatAreNotFixedAreNamed) {
  const auto errata = [](int abi, std::uint32_t fixed) {
    return find(with([&](Facts& f) {
                  f.kernel.support.landlock_abi = f.kernel.support.landlock_abi_kernel = abi;
                  f.kernel.support.landlock_errata = fixed;
                }),
                "landlock_errata");
  };
  EXPECT_EQ(errata(7, 7).level, Level::kOk);
  EXPECT_EQ(errata(7, 5).level, Level::kNote);
  EXPECT_THAT(errata(7, 5).text, HasSubstr(": 2 (signals"));
  EXPECT_EQ(errata(6, 0), Finding{});  // that kernel cannot be asked
}

TEST(Enforcement, IsWhatTheProductSaysOfItself) {
  const Facts facts = with(
      [](Facts& f) { f.kernel.support.landlock_abi = f.kernel.support.landlock_abi_kernel = 2; });
  EXPECT_EQ(find(facts, "enforcement").level, Level::kOk);
  EXPECT_EQ(find(facts, "protection.signals").level, Level::kWarning);
  EXPECT_THAT(find(facts, "protection.tree_kill").text, HasSubstr("weakened"));
  EXPECT_EQ(find(facts, "protection.truncate"), Finding{});  // a stand-in enforces it
  EXPECT_LT(worst(facts), Level::kProblem);
}

TEST(Enforcement, ThatIsNotEnoughForTheDefaultLevelIsAProblem) {
  const Finding none = find(without_landlock([](Facts&) {}), "enforcement");
  EXPECT_EQ(none.level, Level::kProblem);
  EXPECT_THAT(none.text, HasSubstr("file_access"));
  const Facts no_filter = with([](Facts& f) { f.kernel.support.seccomp_filter = false; });
  EXPECT_EQ(find(no_filter, "enforcement").level, Level::kProblem);
  EXPECT_EQ(find(no_filter, "seccomp").level, Level::kProblem);
}

TEST(Kernel, PartsThatNothingNeedsYetAreNotes) {
  const Facts facts = with([](Facts& f) {
    f.kernel.user_notification = false;
    f.kernel.peer_pidfd = false;
    f.kernel.ptrace_scope = 2;
  });
  for (const char* id : {"user_notification", "peer_pidfd", "ptrace_scope"}) {
    EXPECT_EQ(find(facts, id).level, Level::kNote) << id;
  }
  EXPECT_EQ(worst(facts), Level::kNote);
  const Facts no_yama = with([](Facts& f) { f.kernel.ptrace_scope.reset(); });
  EXPECT_EQ(find(no_yama, "ptrace_scope").level, Level::kOk);
}

TEST(Kernel, WithoutPidfdsATreeIsKilledOnlyByTheScope) {
  const Facts scoped = with([](Facts& f) { f.kernel.support.pidfd = false; });
  EXPECT_EQ(find(scoped, "pidfd").level, Level::kWarning);
  const Facts swept = with([](Facts& f) {
    f.kernel.support.pidfd = false;
    f.kernel.support.landlock_abi = f.kernel.support.landlock_abi_kernel = 5;
  });
  EXPECT_EQ(find(swept, "pidfd").level, Level::kProblem);
}

TEST(Container, IsKnownByWhatEachLeaves) {
  const auto kind = [](const std::function<void(SurroundingsFacts&)>& change) {
    SurroundingsFacts here;
    change(here);
    return container_of(here);
  };
  EXPECT_EQ(kind([](auto&) {}), "");
  EXPECT_EQ(kind([](auto& h) { h.cgroup = "0::/user.slice/user-1000.slice"; }), "");
  EXPECT_EQ(kind([](auto& h) { h.dockerenv = true; }), "docker");
  EXPECT_EQ(kind([](auto& h) { h.cgroup = "12:pids:/docker/0123"; }), "docker");
  EXPECT_EQ(kind([](auto& h) { h.containerenv = true; }), "podman");
  EXPECT_EQ(kind([](auto& h) { h.container = "systemd-nspawn"; }), "systemd-nspawn");
  EXPECT_EQ(kind([](auto& h) {
              h.dockerenv = true;
              h.cgroup = "0::/kubepods/burstable/pod1";
            }),
            "kubernetes");
}

TEST(Sandbox, WithoutUnixSocketsHasNoWayToGuardd) {
  const Facts facts = with([](Facts& f) {
    f.surroundings.confined = true;
    f.surroundings.unix_sockets = false;
    f.guardd.state = DaemonState::kNone;
  });
  EXPECT_EQ(find(facts, "sandbox").level, Level::kProblem);
  EXPECT_THAT(find(facts, "sandbox").fix, HasSubstr("xenarch-guard"));
}

TEST(Sandbox, ThatLetsGuarddAnswerIsFineAndElseNoneIsStarted) {
  const auto confined = [](DaemonState state) {
    return find(with([&](Facts& f) {
                  f.surroundings.confined = true;
                  f.guardd.state = state;
                }),
                "sandbox");
  };
  EXPECT_EQ(confined(DaemonState::kRuns).level, Level::kOk);
  EXPECT_EQ(confined(DaemonState::kNone).level, Level::kProblem);
  EXPECT_THAT(confined(DaemonState::kNone).fix, HasSubstr("no-new-privileges"));
}

TEST(Cgroup, ThatIsNotOursIsANoteAndClaimsNothing) {
  for (const bool v2 : {false, true}) {
    const Finding finding = find(with([&](Facts& f) {
                                   f.surroundings.cgroup_v2 = v2;
                                   f.surroundings.cgroup_delegated = false;
                                 }),
                                 "cgroup");
    EXPECT_EQ(finding.level, Level::kNote);
    EXPECT_THAT(finding.text, HasSubstr("nothing uses it yet"));
  }
}

TEST(Guardd, ThatDoesNotRunIsANote) {
  const Facts facts = with([](Facts& f) { f.guardd.state = DaemonState::kNone; });
  EXPECT_EQ(find(facts, "guardd").level, Level::kNote);
  EXPECT_EQ(find(facts, "guardd_landlock"), Finding{});
}

TEST(Guardd, ThatDoesNotAnswerIsAProblem) {
  const Facts facts = with([](Facts& f) {
    f.guardd.state = DaemonState::kDoesNotAnswer;
    f.guardd.silence = Error{Errc::kUnavailable, "guardd at '/s' does not answer", 0, "stopped?"};
  });
  EXPECT_EQ(find(facts, "guardd"),
            (Finding{"guardd", Level::kProblem, "guardd at '/s' does not answer", "stopped?"}));
}

TEST(Guardd, OfAnotherReleaseOrKernelIsAWarning) {
  const Facts facts = with([](Facts& f) {
    f.guardd.daemon.version = "0.0.9";
    f.guardd.daemon.landlock_abi = 2;
  });
  EXPECT_EQ(find(facts, "guardd").level, Level::kWarning);
  EXPECT_THAT(find(facts, "guardd").text, HasSubstr("0.0.9"));
  EXPECT_EQ(find(facts, "guardd_landlock").level, Level::kWarning);
}

TEST(Socket, IsToldWithTheReasonOfItsPlace) {
  const auto text = [](os::SocketSource source) {
    return find(with([&](Facts& f) { f.guardd.socket->source = source; }), "socket").text;
  };
  EXPECT_THAT(text(os::SocketSource::kFlag), HasSubstr("by --socket (33 bytes of 107)"));
  EXPECT_THAT(text(os::SocketSource::kVariable), HasSubstr("$GUARDD_SOCKET"));
  EXPECT_THAT(text(os::SocketSource::kXdgRuntimeDir), HasSubstr("$XDG_RUNTIME_DIR"));
  EXPECT_THAT(text(os::SocketSource::kRunUser), HasSubstr("XDG_RUNTIME_DIR is not set"));
  EXPECT_THAT(text(os::SocketSource::kScratch), HasSubstr("last resort"));
}

TEST(Socket, WhosePathIsNoneIsAProblemAndItsFolderIsNotJudged) {
  const Facts facts = with([](Facts& f) {
    f.guardd.socket = failure(Errc::kInvalid, "the socket's path is 200 bytes", "set another");
  });
  EXPECT_EQ(find(facts, "socket").level, Level::kProblem);
  EXPECT_EQ(find(facts, "socket").fix, "set another");
  EXPECT_EQ(find(facts, "socket_folder"), Finding{});
}

TEST(Folder, IsFineWhenItCanBeMade) {
  const Facts facts = with([](Facts& f) { f.guardd.folder.missing = true; });
  EXPECT_EQ(find(facts, "socket_folder").level, Level::kOk);
  EXPECT_THAT(find(facts, "socket_folder").text, HasSubstr("made at the first start"));
}

TEST(Folder, ThatIsNotOursOrCannotBeMadeIsAProblem) {
  const Facts open = with([](Facts& f) {
    f.guardd.folder.wrong = Error{Errc::kDenied, "'/s' is open to others", 0, "chmod 700 /s"};
  });
  EXPECT_EQ(find(open, "socket_folder").fix, "chmod 700 /s");
  const Facts unmade = with([](Facts& f) {
    f.guardd.scratch.missing = true;
    f.guardd.scratch.wrong = Error{Errc::kDenied, "make a folder in '/var/tmp'", EACCES, ""};
  });
  EXPECT_EQ(find(unmade, "scratch_folder").level, Level::kProblem);
  EXPECT_THAT(find(unmade, "scratch_folder").text, HasSubstr("Permission denied"));
}

TEST(Folder, ThatExecutesNothingIsAWarningWhereRunsBuild) {
  const Facts facts =
      with([](Facts& f) { f.guardd.scratch.no_exec = f.guardd.folder.no_exec = true; });
  EXPECT_EQ(find(facts, "scratch_folder").level, Level::kWarning);
  EXPECT_EQ(find(facts, "socket_folder").level, Level::kOk);
}

TEST(XdgRuntimeDir, UnsetIsANoteAndSomebodyElsesAProblem) {
  const Facts unset = with([](Facts& f) {
    f.guardd.xdg_runtime_dir = "";
    f.guardd.socket->source = os::SocketSource::kScratch;
  });
  EXPECT_EQ(find(unset, "xdg_runtime_dir").level, Level::kNote);
  const Facts others = with([](Facts& f) { f.guardd.xdg_runtime_dir_ours = false; });
  EXPECT_EQ(find(others, "xdg_runtime_dir").level, Level::kProblem);
  const Facts unused = with([](Facts& f) {
    f.guardd.xdg_runtime_dir_ours = false;
    f.guardd.socket->source = os::SocketSource::kFlag;
  });
  EXPECT_EQ(find(unused, "xdg_runtime_dir").level, Level::kNote);
  const Facts relative = with([](Facts& f) { f.guardd.xdg_runtime_dir = "run"; });
  EXPECT_THAT(find(relative, "xdg_runtime_dir").text, HasSubstr("ignored"));
}

TEST(Installation, ThatLacksAProgramOfOursIsAProblem) {
  const Facts none = with([](Facts& f) {
    f.guardd.installed.guardd = "";
    f.guardd.state = DaemonState::kNone;
  });
  EXPECT_EQ(find(none, "guardd_program").level, Level::kProblem);
  // One that runs serves all the same.
  const Facts runs = with([](Facts& f) { f.guardd.installed.guardd = ""; });
  EXPECT_EQ(find(runs, "guardd_program").level, Level::kWarning);
  const Facts bare =
      with([](Facts& f) { f.guardd.installed.launcher = f.guardd.installed.shim = ""; });
  EXPECT_EQ(find(bare, "guard_launcher").level, Level::kProblem);
  EXPECT_EQ(find(bare, "shared_memory").level, Level::kNote);
}

TEST(Limits, ThatAreLowAreToldBeforeTheyAreMet) {
  const auto processes = [](uid_t uid, std::uint64_t maximum, std::uint64_t used) {
    return find(with([&](Facts& f) {
                  f.surroundings.uid = uid;
                  f.guardd.processes = {.maximum = maximum, .used = used};
                }),
                "processes")
        .level;
  };
  EXPECT_EQ(processes(1000, 1000, 100), Level::kOk);
  EXPECT_EQ(processes(1000, 1000, 990), Level::kWarning);
  EXPECT_EQ(processes(1000, 1000, 1200), Level::kProblem);
  EXPECT_EQ(processes(0, 10, 1200), Level::kOk);  // the kernel holds root to no such limit
  const auto files = [](std::uint64_t maximum) {
    return find(with([&](Facts& f) { f.guardd.open_files.maximum = maximum; }), "open_files").level;
  };
  EXPECT_EQ(files(1024), Level::kWarning);
  EXPECT_EQ(files(1 << 20), Level::kOk);
}

}  // namespace
}  // namespace guard::doctor
