#include "daemon/runs/run_state.h"

#include <cerrno>
#include <csignal>

#include <gmock/gmock.h>

namespace guard::daemon {
namespace {

using run::Exited;
using run::Reason;
using run::Signaled;
using run::SpawnError;
using run::Stream;
using supervise::EndCause;
using supervise::EventKind;
using supervise::MonitorEvent;
using ::testing::HasSubstr;

MonitorEvent started() { return {.kind = EventKind::kStarted, .pid = 42}; }

MonitorEvent finished(EndCause cause, int wait_status) {
  return {.kind = EventKind::kFinished, .wait_status = wait_status, .cause = cause};
}

constexpr int exited(int code) { return code << 8; }
constexpr int killed(int signal) { return signal; }

MonitorEvent spawn_failed(sandbox::Stage stage, int error, std::uint32_t index = 0) {
  return {.kind = EventKind::kSpawnFailed,
          .stage = static_cast<std::uint32_t>(stage),
          .error = error,
          .index = index};
}

RunState state(sandbox::Limits limits = {}) {
  return RunState({.program = "tool",
                   .cwd = "/work",
                   .candidates = {"/first/tool", "/second/tool"},
                   .limits = limits,
                   .report = {}});
}

TEST(RunState, GoesFromStartingToRunningToEnded) {
  RunState run = state();
  EXPECT_EQ(run.phase(), RunState::Phase::kStarting);
  EXPECT_FALSE(run.take_started());
  run.on_monitor(started());
  EXPECT_EQ(run.phase(), RunState::Phase::kRunning);
  EXPECT_EQ(run.pid(), 42);
  run.on_monitor(finished(EndCause::kOwn, exited(3)));
  EXPECT_EQ(run.phase(), RunState::Phase::kEnded);
  const auto result = run.result();
  EXPECT_EQ(std::get<Exited>(result.ending).code, 3);
  EXPECT_EQ(result.reason, Reason::kExited);
}

TEST(RunState, ReportOfTheStartTellsTheKillLayerThatWasProven) {
  using supervise::KillLayer;
  const auto told = [](KillLayer layer, sandbox::Status predicted) {
    sandbox::Report report;
    report.protections = {
        {sandbox::Protection::kSignals, sandbox::Status::kEnforced, "landlock", {}},
        {sandbox::Protection::kTreeKill, predicted, "as predicted", {}}};
    RunState run({.program = "tool", .cwd = "/", .candidates = {}, .limits = {}, .report = report});
    auto event = started();
    event.kill_layer = static_cast<std::uint32_t>(layer);
    run.on_monitor(event);
    const auto lines = run.take_started()->report.protections;
    EXPECT_EQ(lines[0], report.protections[0]);
    return std::pair(lines[1].status, lines[1].by);
  };
  using enum sandbox::Status;
  EXPECT_EQ(told(KillLayer::kScope, kEnforced), std::pair(kEnforced, std::string("landlock")));
  EXPECT_EQ(told(KillLayer::kGate, kWeakened), std::pair(kWeakened, std::string("group gate")));
  EXPECT_EQ(told(KillLayer::kSweep, kEnforced),
            std::pair(kWeakened, std::string("sweeps of /proc")))
      << "a scope that was not proven";
  EXPECT_EQ(told(KillLayer::kScope, kNotAsked).second, "as predicted");
}

TEST(RunState, StartedIsToldOnceAlsoWhenTheEndIsKnownAlready) {
  RunState run = state();
  run.on_monitor(started());
  run.on_monitor(finished(EndCause::kOwn, exited(0)));
  EXPECT_TRUE(run.take_started());
  EXPECT_FALSE(run.take_started());
}

TEST(RunState, WhatComesOutOfTurnIsIgnored) {
  RunState run = state();
  run.on_monitor(started());
  run.on_monitor(finished(EndCause::kOwn, exited(1)));
  run.on_monitor(started());
  run.on_monitor(finished(EndCause::kOwn, exited(2)));
  run.on_supervisor_lost();
  EXPECT_EQ(std::get<Exited>(run.result().ending).code, 1);
}

TEST(RunState, PassedOverCandidatesBecomeNotes) {
  RunState run = state();
  run.on_monitor({.kind = EventKind::kPassedOver, .error = EACCES, .index = 0});
  run.on_monitor(started());
  EXPECT_EQ(run.take_started()->notes,
            std::vector<std::string>{"passed over '/first/tool': Permission denied"});
}

TEST(RunState, TheFirstReasonToStopCounts) {
  RunState run = state();
  run.on_monitor(started());
  EXPECT_TRUE(run.stop(Reason::kCancelled, "first"));
  EXPECT_FALSE(run.stop(Reason::kDaemonShutdown, "second"));
  run.on_monitor(finished(EndCause::kOrder, killed(SIGKILL)));
  const auto result = run.result();
  EXPECT_EQ(result.reason, Reason::kCancelled);
  EXPECT_EQ(result.detail, "first");
  EXPECT_EQ(std::get<Signaled>(result.ending).signal, SIGKILL);
}

TEST(RunState, AnOrderThatCameTooLateChangesNothing) {
  RunState run = state();
  run.on_monitor(started());
  EXPECT_TRUE(run.stop(Reason::kCancelled));
  run.on_monitor(finished(EndCause::kOwn, exited(0)));
  EXPECT_EQ(run.result().reason, Reason::kExited);
  EXPECT_FALSE(run.stop(Reason::kDaemonShutdown));
}

TEST(RunState, ATimeoutKeepsTheProgramsOwnCode) {
  RunState run = state();
  run.on_monitor(started());
  run.on_monitor(finished(EndCause::kWall, exited(7)));
  EXPECT_EQ(run.result().reason, Reason::kTimeout);
  EXPECT_EQ(std::get<Exited>(run.result().ending).code, 7);
}

TEST(RunState, ASignalThatWasNotOursIsSignaled) {
  RunState run = state();
  run.on_monitor(started());
  run.on_monitor(finished(EndCause::kOwn, killed(SIGKILL)));
  EXPECT_EQ(run.result().reason, Reason::kSignaled);
}

TEST(RunState, TheCpuLimitIsToldByTheTimeUsed) {
  sandbox::Limits limits;
  limits.cpu = std::chrono::seconds(1);
  for (const std::uint64_t used : {899'000u, 900'000u, 1'000'000u}) {
    RunState run = state(limits);
    run.on_monitor(started());
    MonitorEvent end = finished(EndCause::kOwn, killed(SIGKILL));
    end.user_us = used;
    run.on_monitor(end);
    EXPECT_EQ(run.result().reason, used < 900'000 ? Reason::kSignaled : Reason::kCpuLimit);
  }
}

TEST(RunState, SpawnErrorsNameTheCandidateThatWasTriedLast) {
  RunState run = state();
  run.on_monitor(spawn_failed(sandbox::Stage::kExec, EACCES, 1));
  EXPECT_EQ(run.phase(), RunState::Phase::kStarting);  // until the tree is known to be dead
  run.on_monitor(finished(EndCause::kNotStarted, 0));
  const auto result = run.result();
  EXPECT_EQ(result.reason, Reason::kSpawnFailed);
  EXPECT_EQ(std::get<SpawnError>(result.ending).path, "/second/tool");
  EXPECT_FALSE(run.ever_started());
  EXPECT_FALSE(run.take_started());
}

TEST(RunState, AProgramThatPathHasNowhereIsToldAsItWasTyped) {
  RunState run = state();
  run.on_monitor(spawn_failed(sandbox::Stage::kExec, ENOENT, 1));
  run.on_monitor(finished(EndCause::kNotStarted, 0));
  EXPECT_EQ(std::get<SpawnError>(run.result().ending).path, "tool");
}

TEST(RunState, AWorkingDirectoryThatCannotBeEnteredIsNamed) {
  RunState run = state();
  run.on_monitor(spawn_failed(sandbox::Stage::kSetup, EACCES));
  run.on_monitor(finished(EndCause::kNotStarted, 0));
  EXPECT_EQ(std::get<SpawnError>(run.result().ending).path, "/work");
}

TEST(RunState, EndedBeforeItStartedTheReasonIsWhoEndedIt) {
  RunState cancelled = state();
  cancelled.stop(Reason::kCancelled);
  cancelled.on_monitor(finished(EndCause::kOrder, killed(SIGKILL)));
  EXPECT_EQ(cancelled.result().reason, Reason::kCancelled);
  RunState late = state();
  late.on_monitor(finished(EndCause::kWall, killed(SIGKILL)));
  EXPECT_EQ(late.result().reason, Reason::kTimeout);
  EXPECT_TRUE(std::holds_alternative<SpawnError>(late.result().ending));
}

TEST(RunState, ALostSupervisorIsToldAsOne) {
  RunState run = state();
  run.on_monitor(started());
  run.on_supervisor_lost();
  EXPECT_EQ(run.phase(), RunState::Phase::kEnded);
  EXPECT_EQ(run.result().reason, Reason::kSupervisorLost);
  EXPECT_THAT(run.result().detail, HasSubstr("monitor"));
}

TEST(RunState, OutputHasOffsetsByStream) {
  RunState run = state();
  EXPECT_EQ(run.on_output(Stream::kStdout, 10).offset, 0u);
  EXPECT_EQ(run.on_output(Stream::kStderr, 3).offset, 0u);
  EXPECT_EQ(run.on_output(Stream::kStdout, 1).offset, 10u);
  run.on_monitor(started());
  run.on_monitor(finished(EndCause::kOwn, exited(0)));
  EXPECT_EQ(run.result().streams, (std::vector<run::StreamTotal>{{Stream::kStdout, 11, false},
                                                                 {Stream::kStderr, 3, false}}));
}

TEST(RunState, TheOutputLimitCutsAtItsByteAndHoldsPerStream) {
  sandbox::Limits limits;
  limits.output_bytes = 10;
  RunState run = state(limits);
  EXPECT_FALSE(run.on_output(Stream::kStdout, 10).over_limit);
  const auto cut = run.on_output(Stream::kStderr, 25);
  EXPECT_TRUE(cut.over_limit);
  EXPECT_EQ(cut.size, 10u);
  const auto beyond = run.on_output(Stream::kStderr, 5);
  EXPECT_TRUE(beyond.over_limit);
  EXPECT_EQ(beyond.size, 0u);
  run.on_monitor(started());
  run.on_monitor(finished(EndCause::kOwn, exited(0)));
  EXPECT_EQ(run.result().reason, Reason::kOutputLimit);  // also when it was quicker than the kill
  EXPECT_EQ(run.result().streams, (std::vector<run::StreamTotal>{{Stream::kStdout, 10, false},
                                                                 {Stream::kStderr, 30, true}}));
}

TEST(RunState, ThrownAwayOutputIsCountedAndTold) {
  RunState run = state();
  run.on_discarded(Stream::kStdout, 7);
  run.on_monitor(started());
  run.on_monitor(finished(EndCause::kOwn, exited(0)));
  EXPECT_EQ(run.result().streams[0], (run::StreamTotal{Stream::kStdout, 7, true}));
}

}  // namespace
}  // namespace guard::daemon
