#include "daemon/runs/environment.h"

#include <gmock/gmock.h>

namespace guard::daemon {
namespace {

using ::testing::ElementsAre;

run::Spec with(std::vector<run::EnvVar> env) {
  run::Spec spec;
  spec.env = std::move(env);
  return spec;
}

TEST(PrivateVariables, BothByDefault) {
  EXPECT_EQ(private_variables({}), (PrivateVariables{true, true}));
}

TEST(PrivateVariables, AreNotGivenWhereTheyAreNotWanted) {
  run::Spec bare;
  bare.policy.default_grants = false;
  EXPECT_EQ(private_variables(bare), PrivateVariables());
  run::Spec real;
  real.policy.real_home = true;
  EXPECT_EQ(private_variables(real), (PrivateVariables{false, true}));
  run::Spec kept;
  kept.keep_env = {"TMPDIR"};
  EXPECT_EQ(private_variables(kept), (PrivateVariables{true, false}));
}

TEST(EnvironmentOf, PrivateFoldersTakeThePlaceOfWhatWasSent) {
  const auto spec = with({{"HOME", "/root"}, {"PATH", "/bin"}, {"TMPDIR", "/tmp"}});
  EXPECT_THAT(environment_of(spec, "/h", "/t"), ElementsAre("HOME=/h", "PATH=/bin", "TMPDIR=/t"));
  EXPECT_THAT(environment_of(spec, "", ""), ElementsAre("HOME=/root", "PATH=/bin", "TMPDIR=/tmp"));
}

TEST(EnvironmentOf, WhatLeadsToGuarddIsDropped) {
  const auto spec = with({{"GUARDD_SOCKET", "x"},
                          {"LISTEN_FDS", "1"},
                          {"NOTIFY_SOCKET", "x"},
                          {"GUARD", "y"},
                          {"PATH", ""}});
  EXPECT_THAT(environment_of(spec, "", ""), ElementsAre("GUARD=y", "PATH="));
}

TEST(EnvironmentOf, PathHasADefaultUnlessItsAbsenceIsKept) {
  EXPECT_THAT(environment_of({}, "", ""), ElementsAre("PATH=/usr/local/bin:/usr/bin:/bin"));
  run::Spec without;
  without.keep_env = {"PATH"};
  EXPECT_THAT(environment_of(without, "", ""), ElementsAre());
}

TEST(EnvironmentOf, ANameThatStartsLikeAnotherIsAnother) {
  const auto spec = with({{"HOMELY", "x"}, {"PATH", "/bin"}});
  EXPECT_THAT(environment_of(spec, "/h", ""), ElementsAre("HOMELY=x", "PATH=/bin", "HOME=/h"));
}

TEST(EnvironmentOf, TheSharedMemoryShimYieldsToTheRequestsOwnPreload) {
  run::Spec spec;
  spec.env = {{"PATH", "/bin"}};
  EXPECT_THAT(environment_of(spec, "", "/t", "/s.so"),
              ElementsAre("PATH=/bin", "TMPDIR=/t", "LD_PRELOAD=/s.so", "GUARD_SHM_DIR=/t"));
  spec.env.push_back({"LD_PRELOAD", "/mine.so"});
  spec.keep_env = {"LD_PRELOAD"};
  EXPECT_THAT(environment_of(spec, "", "/t", "/s.so"),
              ElementsAre("PATH=/bin", "LD_PRELOAD=/mine.so", "TMPDIR=/t", "GUARD_SHM_DIR=/t"));
}

}  // namespace
}  // namespace guard::daemon
