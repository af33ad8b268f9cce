#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/doctor/findings.h"
#include "tests/unit/doctor/made_up_machine.h"

namespace guard::doctor {
namespace {

using testing::HasSubstr;

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

TEST(Kernel, PartsThatRunsDoWithoutAreNotes) {
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

TEST(Kernel, WithoutUserNotificationIsAWarningWhereItEndsRuns) {
  const Facts facts = with([](Facts& f) {
    f.kernel.user_notification = false;
    f.kernel.support.landlock_abi = f.kernel.support.landlock_abi_kernel = 2;
  });
  EXPECT_EQ(find(facts, "user_notification").level, Level::kWarning);
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

}  // namespace
}  // namespace guard::doctor
