#include "client/doctor/findings.h"

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/doctor/made_up_machine.h"

namespace guard::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

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
    EXPECT_THAT(finding.text, HasSubstr("for no limit"));
  }
}

TEST(Guardd, ThatDoesNotRunIsANote) {
  const Facts facts = with([](Facts& f) { f.guardd.state = DaemonState::kNone; });
  EXPECT_EQ(find(facts, "guardd").level, Level::kNote);
  EXPECT_EQ(find(facts, "guardd_landlock"), Finding{});
}

TEST(Guardd, WhoseSocketIsHeldForItIsANote) {
  const Facts facts = with([](Facts& f) { f.guardd.state = DaemonState::kHeld; });
  EXPECT_EQ(find(facts, "guardd").level, Level::kNote);
  EXPECT_THAT(find(facts, "guardd").fix, HasSubstr("guardd.socket"));
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
