#include "common/run/exit_code.h"

#include <csignal>

#include <gtest/gtest.h>

namespace guard::run {
namespace {

using sandbox::Stage;

RunResult ended(decltype(RunResult::ending) ending, Reason reason) {
  RunResult result;
  result.ending = std::move(ending);
  result.reason = reason;
  return result;
}

TEST(ExitCode, IsTheProgramsOwn) {
  for (const int code : {0, 1, 124, 125, 137, 255}) {
    EXPECT_EQ(exit_code_for(ended(Exited{code}, Reason::kExited)), code);
  }
}

TEST(ExitCode, IsAShellsForASignal) {
  EXPECT_EQ(exit_code_for(ended(Signaled{SIGKILL}, Reason::kSignaled)), 137);
  EXPECT_EQ(exit_code_for(ended(Signaled{SIGSEGV}, Reason::kSignaled)), 139);
  EXPECT_EQ(exit_code_for(ended(Signaled{SIGTERM}, Reason::kCancelled)), 143);
}

TEST(ExitCode, TellsATimeoutFromEverySignalAndFromACleanExitInTheGrace) {
  EXPECT_EQ(exit_code_for(ended(Signaled{SIGKILL}, Reason::kTimeout)), 124);
  EXPECT_EQ(exit_code_for(ended(Signaled{SIGTERM}, Reason::kTimeout)), 124);
  EXPECT_EQ(exit_code_for(ended(Exited{0}, Reason::kTimeout)), 124);
}

TEST(ExitCode, OfALostRunIsNeverTheProgramsOwn) {
  EXPECT_EQ(exit_code_for(ended(Signaled{SIGKILL}, Reason::kSupervisorLost)), 125);
  EXPECT_EQ(exit_code_for(ended(Exited{0}, Reason::kDaemonShutdown)), 125);
}

TEST(ExitCode, OfAFailedStartSaysWhetherTheProgramWasFound) {
  const auto failed = [](Stage stage, int error) {
    return exit_code_for(ended(SpawnError{stage, error, "/x", "", ""}, Reason::kSpawnFailed));
  };
  EXPECT_EQ(failed(Stage::kExec, ENOENT), 127);
  EXPECT_EQ(failed(Stage::kExec, ENOTDIR), 127);
  EXPECT_EQ(failed(Stage::kExec, EACCES), 126);
  EXPECT_EQ(failed(Stage::kExec, ENOEXEC), 126);
  EXPECT_EQ(failed(Stage::kExec, E2BIG), 126);
  EXPECT_EQ(failed(Stage::kSetup, ENOENT), 125);
  EXPECT_EQ(failed(Stage::kLandlock, E2BIG), 125);
  EXPECT_EQ(failed(Stage::kWitness, 0), 125);
}

TEST(ExitCode, OfAnErrorOfOursIs125) {
  EXPECT_EQ(exit_code_for(Error{Errc::kInvalid, "x", 0, ""}), 125);
}

TEST(ReasonName, IsTheProtosWithoutItsPrefix) {
  EXPECT_EQ(name_of(Reason::kExited), "EXITED");
  EXPECT_EQ(name_of(Reason::kDaemonShutdown), "DAEMON_SHUTDOWN");
  EXPECT_EQ(name_of(static_cast<Reason>(200)), "UNKNOWN");
}

TEST(StageName, ReadsBack) {
  for (int i = 0; i <= static_cast<int>(Stage::kExec); ++i) {
    const auto stage = static_cast<Stage>(i);
    EXPECT_EQ(stage_named(name_of(stage)), stage);
  }
  EXPECT_EQ(stage_named("lunch"), std::nullopt);
}

}  // namespace
}  // namespace guard::run
