#include "common/sandbox/compile.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sandbox/landlock/rights.h"

namespace guard::sandbox {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

KernelSupport kernel_with(int abi) {
  KernelSupport kernel;
  kernel.landlock_abi = kernel.landlock_abi_kernel = abi;
  kernel.seccomp_filter = kernel.pidfd = kernel.close_range = true;
  kernel.release = "5.10";
  return kernel;
}

enum class Ports { kNone, kConnect, kBind };

ResolvedPolicy policy_with(Level level, Ports ports = Ports::kNone) {
  ResolvedPolicy resolved;
  resolved.policy.level = level;
  if (ports == Ports::kConnect) resolved.policy.allow_connect = {443};
  if (ports == Ports::kBind) resolved.policy.allow_bind = {8080, 0};
  ResolvedGrant grant;
  grant.grant = {"/srv", Access::kWrite};
  grant.resolved = "/srv";
  resolved.policy.paths = {grant.grant};
  resolved.grants = {grant};
  return resolved;
}

ProtectionLine line(const Report& report, Protection protection) {
  return *std::ranges::find(report.protections, protection, &ProtectionLine::protection);
}

Status status(const Compiled& compiled, Protection protection) {
  return line(compiled.report, protection).status;
}

bool runs(int abi, Level level, Ports ports = Ports::kNone) {
  const auto compiled = compile(policy_with(level, ports), kernel_with(abi), Supervision::kNone);
  if (!compiled) {
    EXPECT_EQ(compiled.error().code, Errc::kUnsupported);
  }
  return compiled.has_value();
}

// --- Every ABI, every level, with and without ports.

class EveryAbi : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Landlock, EveryAbi, ::testing::Range(0, 12));

TEST_P(EveryAbi, TheDefaultRunsWhereFileAccessAndTheAskedNetworkAreEnforced) {
  const int abi = GetParam();
  EXPECT_EQ(runs(abi, Level::kDefault), abi >= 1);
  EXPECT_EQ(runs(abi, Level::kDefault, Ports::kConnect), abi >= 4);
  EXPECT_EQ(runs(abi, Level::kDefault, Ports::kBind), abi >= 4);
}

TEST_P(EveryAbi, StrictRunsWhereNothingIsWeakened) {
  const int abi = GetParam();
  EXPECT_EQ(runs(abi, Level::kStrict), abi >= 6);
  EXPECT_EQ(runs(abi, Level::kStrict, Ports::kConnect), abi >= 6);
  EXPECT_EQ(runs(abi, Level::kStrict, Ports::kBind), abi >= 6);
}

TEST_P(EveryAbi, BestEffortNeverGoesBelowFileAccess) {
  const int abi = GetParam();
  EXPECT_EQ(runs(abi, Level::kBestEffort), abi >= 1);
  EXPECT_EQ(runs(abi, Level::kBestEffort, Ports::kConnect), abi >= 1);
}

TEST_P(EveryAbi, OnlyUnsafeNoGuardRunsEverywhereAndSaysSo) {
  const auto compiled =
      compile(policy_with(Level::kUnsafeNoGuard), kernel_with(GetParam()), Supervision::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_FALSE(compiled->plan.confine);
  EXPECT_FALSE(compiled->report.confined());
  for (const ProtectionLine& each : compiled->report.protections) {
    EXPECT_EQ(each.status, Status::kNotAsked);
  }
}

TEST_P(EveryAbi, ThePlanHandlesAllThatTheKernelCanRefuse) {
  const int abi = GetParam();
  if (abi == 0) return;
  const auto compiled = compile(policy_with(Level::kDefault), kernel_with(abi), Supervision::kNone);
  ASSERT_TRUE(compiled);
  const landlock::Handled all = landlock::handled_by(abi);
  EXPECT_EQ(compiled->plan.handled_fs, all.fs);
  EXPECT_EQ(compiled->plan.handled_net, all.net);
  EXPECT_EQ(compiled->plan.scoped, all.scoped);
  for (const PathRule& rule : compiled->plan.paths) {
    EXPECT_NE(rule.rights, 0u);
    EXPECT_EQ(rule.rights & ~all.fs, 0u);
  }
}

TEST_P(EveryAbi, TheReportNamesEveryProtectionOnceInOrder) {
  const auto compiled =
      compile(policy_with(Level::kUnsafeNoGuard), kernel_with(GetParam()), Supervision::kTreeKill);
  ASSERT_TRUE(compiled);
  const auto& lines = compiled->report.protections;
  ASSERT_EQ(lines.size(), 11u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].protection, static_cast<Protection>(i));
  }
}

TEST_P(EveryAbi, WhatIsNotEnforcedInFullSaysWhy) {
  if (GetParam() == 0) return;
  const auto compiled = compile(policy_with(Level::kBestEffort, Ports::kConnect),
                                kernel_with(GetParam()), Supervision::kTreeKill);
  ASSERT_TRUE(compiled);
  for (const ProtectionLine& each : compiled->report.protections) {
    EXPECT_EQ(each.why.empty(), each.status == Status::kEnforced) << name_of(each.protection);
    EXPECT_EQ(each.by.empty(), each.status == Status::kMissing) << name_of(each.protection);
  }
}

TEST_P(EveryAbi, StandInsAreAskedOfTheFilterExactlyWhereLandlockLacksTheRight) {
  const int abi = GetParam();
  if (abi == 0) return;
  const auto compiled = compile(policy_with(Level::kDefault), kernel_with(abi), Supervision::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->plan.filter.refuse_truncate, abi < 3);
  EXPECT_EQ(compiled->plan.filter.refuse_kill_all, abi < 6);
  EXPECT_FALSE(compiled->plan.filter.inet_stream);
  EXPECT_FALSE(compiled->plan.filter.listen);
}

// --- One kernel at a time.

TEST(Compile, WithoutLandlockTheMessageSaysWhichOfTheFourReasonsItIs) {
  KernelSupport kernel = kernel_with(0);
  const auto message = [&] {
    const auto compiled = compile(policy_with(Level::kBestEffort), kernel, Supervision::kNone);
    EXPECT_FALSE(compiled);
    return compiled ? std::string() : compiled.error().what;
  };
  for (const char* release : {"", "5", "5.10.0-34-amd64", "5.12", "4.19.0", "x.y"}) {
    kernel.release = release;
    EXPECT_THAT(message(), HasSubstr("this kernel has no Landlock; Linux 5.13")) << release;
  }
  for (const char* release : {"5.13", "5.13.0-1-x", "6.1", "6.18.44-x"}) {
    kernel.release = release;
    EXPECT_THAT(message(), HasSubstr("not built in, or a container's")) << release;
  }
  kernel.landlock_off_at_boot = true;
  EXPECT_THAT(message(), HasSubstr("off at boot: add landlock to lsm="));
  kernel.landlock_off_at_boot = false;
  kernel.landlock_abi_kernel = 7;
  EXPECT_THAT(message(), HasSubstr("lowered"));
}

TEST(Compile, WithoutSeccompNothingRunsButUnsafe) {
  KernelSupport kernel = kernel_with(7);
  kernel.seccomp_filter = false;
  for (const Level level : {Level::kDefault, Level::kStrict, Level::kBestEffort}) {
    const auto compiled = compile(policy_with(level), kernel, Supervision::kNone);
    ASSERT_FALSE(compiled);
    EXPECT_THAT(compiled.error().what, HasSubstr("syscall_filter"));
    EXPECT_THAT(compiled.error().hint, HasSubstr("--unsafe-no-guard"));
  }
}

TEST(Compile, DebiansOwnKernelServesByDefaultAndSaysWhatIsWeaker) {
  const auto compiled = compile(policy_with(Level::kDefault), kernel_with(2), Supervision::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_EQ(status(*compiled, Protection::kFileAccess), Status::kEnforced);
  EXPECT_EQ(line(compiled->report, Protection::kTruncate).by, "seccomp stand-in");
  EXPECT_EQ(status(*compiled, Protection::kTruncate), Status::kEnforced);
  EXPECT_EQ(status(*compiled, Protection::kNetwork), Status::kEnforced);
  EXPECT_EQ(status(*compiled, Protection::kDeviceIoctl), Status::kWeakened);
  EXPECT_EQ(status(*compiled, Protection::kSignals), Status::kWeakened);
}

TEST(Compile, PortsWithoutPortRulesAreRefusedAndOpenOnlyWhenThatIsAccepted) {
  const auto refused =
      compile(policy_with(Level::kDefault, Ports::kConnect), kernel_with(3), Supervision::kNone);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("network"));
  EXPECT_THAT(refused.error().hint, HasSubstr("--best-effort"));
  const auto accepted =
      compile(policy_with(Level::kBestEffort, Ports::kConnect), kernel_with(3), Supervision::kNone);
  ASSERT_TRUE(accepted);
  EXPECT_EQ(status(*accepted, Protection::kNetwork), Status::kWeakened);
  EXPECT_THAT(line(accepted->report, Protection::kNetwork).why, HasSubstr("any port"));
  EXPECT_TRUE(accepted->plan.filter.inet_stream);
  EXPECT_THAT(accepted->plan.ports, IsEmpty());
}

TEST(Compile, StrictNamesEachThingThatLacks) {
  const auto compiled =
      compile(policy_with(Level::kStrict), kernel_with(2), Supervision::kTreeKill);
  ASSERT_FALSE(compiled);
  for (const char* name : {"device_ioctl", "signals", "tree_kill", "Linux 6.12", "Linux 6.10"}) {
    EXPECT_THAT(compiled.error().what, HasSubstr(name));
  }
  EXPECT_THAT(compiled.error().what, Not(HasSubstr("truncate")));
}

TEST(Compile, OneAbiOneSaysThatRenamesStayWithinAFolder) {
  const auto one = compile(policy_with(Level::kDefault), kernel_with(1), Supervision::kNone);
  const auto two = compile(policy_with(Level::kDefault), kernel_with(2), Supervision::kNone);
  ASSERT_TRUE(one && two);
  EXPECT_THAT(one->report.warnings, Contains(HasSubstr("rename")));
  EXPECT_THAT(two->report.warnings, Not(Contains(HasSubstr("rename"))));
}

TEST(Compile, ALoweredAbiIsReported) {
  KernelSupport kernel = kernel_with(4);
  kernel.landlock_abi_kernel = 7;
  const auto compiled = compile(policy_with(Level::kDefault), kernel, Supervision::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_THAT(compiled->report.warnings, Contains(HasSubstr("lowered from 7 to 4")));
  EXPECT_EQ(compiled->report.landlock_abi_kernel, 7);
}

TEST(Compile, ANewerKernelThanWeKnowIsTakenAsTheNewestAndNotCalledLowered) {
  KernelSupport kernel = kernel_with(kNewestLandlockAbi);
  kernel.landlock_abi_kernel = 15;
  const auto compiled = compile(policy_with(Level::kStrict), kernel, Supervision::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_THAT(compiled->report.warnings, IsEmpty());
}

TEST(Compile, PortRulesCarryTheRightOfTheirFlag) {
  ResolvedPolicy policy = policy_with(Level::kDefault);
  policy.policy.allow_connect = {443};
  policy.policy.allow_bind = {8080, 0};
  const auto compiled = compile(policy, kernel_with(7), Supervision::kNone);
  ASSERT_TRUE(compiled);
  const std::vector<PortRule> expected = {
      {landlock::kConnectTcp, 443}, {landlock::kBindTcp, 8080}, {landlock::kBindTcp, 0}};
  EXPECT_EQ(compiled->plan.ports, expected);
  EXPECT_TRUE(compiled->plan.filter.inet_stream);
  EXPECT_TRUE(compiled->plan.filter.listen);
  EXPECT_THAT(compiled->report.ungoverned, Contains(HasSubstr("any host")));
  EXPECT_THAT(compiled->report.ungoverned, Contains(HasSubstr("listening without bind")));
}

TEST(Compile, AGrantOfUdpIsNeverMadeSoNewerKernelsRefuseItTwice) {
  const auto compiled =
      compile(policy_with(Level::kDefault, Ports::kConnect), kernel_with(10), Supervision::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_NE(compiled->plan.handled_net & landlock::kConnectSendUdp, 0u);
  for (const PortRule& rule : compiled->plan.ports) {
    EXPECT_EQ(rule.rights & (landlock::kBindUdp | landlock::kConnectSendUdp), 0u);
  }
}

TEST(Compile, TheOneShotAsksForNoTreeKillSoThatStrictCanBeMet) {
  const auto alone = compile(policy_with(Level::kStrict), kernel_with(7), Supervision::kNone);
  ASSERT_TRUE(alone);
  EXPECT_EQ(status(*alone, Protection::kTreeKill), Status::kNotAsked);
  EXPECT_THAT(alone->report.ungoverned, Contains(HasSubstr("outlive")));
  const auto watched =
      compile(policy_with(Level::kDefault), kernel_with(7), Supervision::kTreeKill);
  ASSERT_TRUE(watched);
  EXPECT_EQ(status(*watched, Protection::kTreeKill), Status::kEnforced);
  EXPECT_THAT(watched->report.ungoverned, Not(Contains(HasSubstr("outlive"))));
}

TEST(Compile, CoreDumpsAreAlwaysLimitedToOneByte) {
  ResolvedPolicy policy = policy_with(Level::kDefault);
  policy.policy.limits.cpu = std::chrono::seconds(9);
  policy.policy.limits.memory_bytes = 1 << 20;
  policy.policy.limits.open_files = 64;
  const auto compiled = compile(policy, kernel_with(7), Supervision::kNone);
  ASSERT_TRUE(compiled);
  const std::vector<Limit> expected = {
      {RLIMIT_CORE, 1}, {RLIMIT_CPU, 9}, {RLIMIT_AS, 1 << 20}, {RLIMIT_NOFILE, 64}};
  EXPECT_EQ(compiled->plan.limits, expected);
}

TEST(Compile, AGrantIsMaskedToItsInode) {
  ResolvedPolicy policy = policy_with(Level::kDefault);
  policy.grants[0].kind = InodeKind::kCharDevice;
  const auto compiled = compile(policy, kernel_with(7), Supervision::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->plan.paths.at(0).rights,
            landlock::kReadFile | landlock::kWriteFile | landlock::kTruncate | landlock::kIoctlDev);
  EXPECT_EQ(compiled->report.grants.at(0).rights, "read write truncate ioctl");
}

TEST(Compile, SkippedGrantsMakeNoRuleAndStayInTheReport) {
  ResolvedPolicy policy = policy_with(Level::kDefault);
  policy.grants[0].skipped = true;
  const auto compiled = compile(policy, kernel_with(7), Supervision::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_THAT(compiled->plan.paths, IsEmpty());
  EXPECT_TRUE(compiled->report.grants.at(0).skipped);
}

TEST(Compile, AGrantTakenApartIsOneLineAndManyRules) {
  ResolvedPolicy policy = policy_with(Level::kDefault);
  policy.policy.paths[0].access = Access::kRead;
  ResolvedGrant top = policy.grants[0];
  top.grant.access = Access::kRead;
  top.list_only = true;
  top.warning = "without guardd's own";
  ResolvedGrant beside = top;
  beside.list_only = false;
  beside.warning.clear();
  beside.resolved = "/srv/x";
  policy.grants = {top, beside, beside};
  const auto compiled = compile(policy, kernel_with(7), Supervision::kNone);
  ASSERT_TRUE(compiled);
  ASSERT_EQ(compiled->plan.paths.size(), 3u);
  EXPECT_EQ(compiled->plan.paths[0].rights, landlock::kReadDir);
  ASSERT_EQ(compiled->report.grants.size(), 1u);
  EXPECT_EQ(compiled->report.grants[0].rights, "read list execute");
  EXPECT_EQ(compiled->report.grants[0].note, "without guardd's own");
}

TEST(Compile, PtraceOpensTheFilterOnly) {
  ResolvedPolicy policy = policy_with(Level::kDefault);
  policy.policy.allow_ptrace = true;
  const auto compiled = compile(policy, kernel_with(7), Supervision::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_TRUE(compiled->plan.filter.allow_ptrace);
  EXPECT_EQ(status(*compiled, Protection::kProcesses), Status::kEnforced);
}

}  // namespace
}  // namespace guard::sandbox
