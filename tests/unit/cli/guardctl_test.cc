#include "client/cli/guardctl.h"

#include <fcntl.h>

#include <cerrno>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/pipe.h"
#include "common/os/sys.h"
#include "tests/unit/cli/fake_guard.h"

namespace guard::client {
namespace {

using run::Event;
using run::Finished;
using run::Output;
using run::Started;
using testing::HasSubstr;
using testing::StartsWith;

Event started() { return {"r1", Started{}}; }
Event output(const std::string& data) { return {"r1", Output{run::Stream::kStdout, 0, data}}; }
Event exited(int code) {
  run::RunResult result;
  result.ending = run::Exited{code};
  return {"r1", Finished{result}};
}

class GuardctlTest : public testing::Test {
 protected:
  // A relay of standard input may still be about to read it.
  ~GuardctlTest() override { (void)stdin_.release(); }

  int guardctl(std::vector<std::string> arguments, ByteSink* out = nullptr) {
    Context context{.out = out != nullptr ? *out : out_,
                    .messages = messages_,
                    .environment = {"PATH=/bin", "HOME=/home/me", "GUARDD_SOCKET=/s/guardd.sock"},
                    .cwd = "/srv",
                    .stdin_fd = stdin_.get(),
                    .is_process = false,
                    .connect = [this](const Endpoint& endpoint) { return connect(endpoint); }};
    return client::guardctl(arguments, context);
  }
  Result<std::unique_ptr<GuardClient>> connect(const Endpoint& endpoint) {
    endpoints_.push_back(endpoint);
    if (no_daemon_) return std::unexpected(*no_daemon_);
    auto guard = std::make_unique<FakeGuard>(asked_);
    guard->answers = answers_;
    guard->wait_for_input = wait_for_input_;
    guard->runs = runs_;
    guard->result = result_;
    guard->facts = facts_;
    return guard;
  }

  StringSink out_, err_;
  Messages messages_{err_, "guardctl", false};
  os::UniqueFd stdin_ = std::move(*os::open("/dev/null", O_RDONLY));
  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();
  std::deque<Answer> answers_;
  bool wait_for_input_ = false;
  RunList runs_;
  Result<run::RunResult> result_;
  DaemonFacts facts_;
  std::optional<Error> no_daemon_;
  std::vector<Endpoint> endpoints_;
};

TEST_F(GuardctlTest, RunsAProgramAndEndsAsItDoes) {
  answers_ = {started(), output("hi\n"), exited(3)};
  EXPECT_EQ(guardctl({"run", "--", "echo", "hi"}), 3);
  EXPECT_EQ(out_.text, "hi\n");
  EXPECT_EQ(err_.text, "");
  ASSERT_EQ(asked_->runs.size(), 1u);
  EXPECT_THAT(asked_->runs[0].argv, testing::ElementsAre("echo", "hi"));
}

TEST_F(GuardctlTest, RelaysItsInputToTheEnd) {
  auto pipe = os::make_pipe();
  ASSERT_TRUE(os::write_all(pipe->write.get(), "typed\n"));
  pipe->write.reset();
  stdin_ = std::move(pipe->read);
  answers_ = {started(), exited(0)};
  wait_for_input_ = true;
  EXPECT_EQ(guardctl({"run", "--", "cat"}), 0);
  EXPECT_EQ(asked_->input, "typed\n");
}

TEST_F(GuardctlTest, EndsTheInputAtOnceWhenThereIsNone) {
  answers_ = {started(), exited(0)};
  wait_for_input_ = true;
  EXPECT_EQ(guardctl({"run", "-n", "--", "cat"}), 0);
  EXPECT_EQ(asked_->input, "");
}

TEST_F(GuardctlTest, TakesAnInputThatCannotBeReadForAnEmptyOne) {
  stdin_ = std::move(*os::open("/dev/null", O_WRONLY));  // what main() makes of a closed one
  answers_ = {started(), exited(0)};
  wait_for_input_ = true;
  EXPECT_EQ(guardctl({"run", "--", "cat"}), 0);
  EXPECT_EQ(asked_->input, "");
}

TEST_F(GuardctlTest, NeverMakesUpAnEnd) {
  answers_ = {started(), output("half")};
  EXPECT_EQ(guardctl({"run", "--", "x"}), 125);
  EXPECT_THAT(err_.text, HasSubstr("without a result"));
  err_.text.clear();
  answers_ = {started(), std::unexpected(Error{Errc::kUnavailable, "Socket closed", 0, ""})};
  EXPECT_EQ(guardctl({"run", "--", "x"}), 125);
  EXPECT_THAT(err_.text, HasSubstr("the run was lost: Socket closed"));
}

TEST_F(GuardctlTest, TellsWhyGuarddRefused) {
  answers_ = {std::unexpected(Error{Errc::kNotFound, "'/x' does not exist", 0, "mkdir -p /x"})};
  EXPECT_EQ(guardctl({"run", "--", "x"}), 125);
  EXPECT_EQ(err_.text, "[guardctl] error: '/x' does not exist\n[guardctl] hint: mkdir -p /x\n");
}

TEST_F(GuardctlTest, ConnectsOnlyForARequestThatIsSound) {
  EXPECT_EQ(guardctl({"run", "--timeout", "0", "--", "x"}), 125);
  EXPECT_EQ(guardctl({"run", "--allow-read", "", "--", "x"}), 125);
  EXPECT_EQ(guardctl({"run", "--help"}), 0);
  EXPECT_TRUE(endpoints_.empty());
}

TEST_F(GuardctlTest, TellsThatNoDaemonCouldBeReached) {
  no_daemon_ = Error{Errc::kUnavailable, "guardd did not start", 0, "its log: /l"};
  EXPECT_EQ(guardctl({"run", "--", "x"}), 125);
  EXPECT_EQ(guardctl({"check"}), 5);
  EXPECT_THAT(err_.text, HasSubstr("guardd did not start"));
}

class BrokenSink final : public ByteSink {
 public:
  explicit BrokenSink(int error) : error_(error) {}
  Result<> write(std::string_view) override { return os_failure("write standard output", error_); }

 private:
  const int error_;
};

TEST_F(GuardctlTest, CancelsARunWhoseOutputNobodyReads) {
  answers_ = {started(), output("x"), exited(0)};
  BrokenSink closed(EPIPE);
  EXPECT_EQ(guardctl({"run", "--", "yes"}, &closed), 128 + SIGPIPE);
  EXPECT_TRUE(asked_->cancelled);
  EXPECT_EQ(err_.text, "");
}

TEST_F(GuardctlTest, SaysSoWhenOutputCannotBeWritten) {
  answers_ = {started(), output("x"), exited(0)};
  BrokenSink full(ENOSPC);
  EXPECT_EQ(guardctl({"run", "--", "yes"}, &full), 125);
  EXPECT_TRUE(asked_->cancelled);
  EXPECT_THAT(err_.text, HasSubstr("No space left"));
}

TEST_F(GuardctlTest, PrintsEventsAsJson) {
  answers_ = {started(), output("x"), exited(3)};
  EXPECT_EQ(guardctl({"run", "--json", "--", "x"}), 3);
  EXPECT_EQ(std::count(out_.text.begin(), out_.text.end(), '\n'), 3);
  EXPECT_THAT(out_.text, StartsWith("{\"event\":\"started\""));
}

TEST_F(GuardctlTest, ChecksWithoutRunning) {
  EXPECT_EQ(guardctl({"check", "--allow-read", "x"}), 0);
  EXPECT_THAT(out_.text, HasSubstr("network:"));
  EXPECT_TRUE(asked_->runs.empty());
  EXPECT_THAT(asked_->cwd_grants, testing::ElementsAre("/srv"));
  EXPECT_EQ(guardctl({"check", "--nonsense"}), 2);
}

run::Info info(const std::string& id) {
  run::Info made;
  made.run_id = id;
  return made;
}

TEST_F(GuardctlTest, ListsRunsOfADaemonThatItDoesNotStart) {
  runs_.runs = {info("r1")};
  EXPECT_EQ(guardctl({"ps"}), 0);
  EXPECT_THAT(out_.text, HasSubstr("\nr1      starting"));
  EXPECT_FALSE(asked_->listed_finished);
  EXPECT_FALSE(endpoints_.at(0).autostart);
  EXPECT_EQ(guardctl({"ps", "-a", "--json"}), 0);
  EXPECT_TRUE(asked_->listed_finished);
  EXPECT_THAT(out_.text, HasSubstr("\n{\"run_id\":\"r1\""));
}

TEST_F(GuardctlTest, SaysThatTheListIsNotWhole) {
  runs_.truncated = true;
  EXPECT_EQ(guardctl({"ps", "-a"}), 0);
  EXPECT_THAT(err_.text, HasSubstr("left out"));
}

TEST_F(GuardctlTest, WaitsForTheRunThatAnIdBegins) {
  runs_.runs = {info("abc"), info("xyz")};
  result_->ending = run::Signaled{9};
  result_->reason = run::Reason::kSignaled;
  EXPECT_EQ(guardctl({"wait", "a"}), 137);
  EXPECT_THAT(asked_->waited_for, testing::ElementsAre("abc"));
  EXPECT_TRUE(asked_->listed_finished);
  result_->reason = run::Reason::kTimeout;
  EXPECT_EQ(guardctl({"wait", "abc"}), 124);
  EXPECT_THAT(err_.text, HasSubstr("the time limit passed"));
}

TEST_F(GuardctlTest, SignalsEveryRunThatLives) {
  runs_.runs = {info("abc"), info("xyz")};
  EXPECT_EQ(guardctl({"kill", "-s", "int", "x", "gone", "abc"}), 1);
  using Sent = std::pair<std::string, int>;
  EXPECT_THAT(asked_->signalled,
              testing::ElementsAre(Sent("xyz", SIGINT), Sent("gone", SIGINT), Sent("abc", SIGINT)));
  EXPECT_THAT(err_.text, HasSubstr("gone has ended"));
}

TEST_F(GuardctlTest, KillsNobodyWhenOneIdIsAmbiguous) {
  runs_.runs = {info("abc"), info("abd"), info("xyz")};
  EXPECT_EQ(guardctl({"kill", "xyz", "ab"}), 2);
  EXPECT_TRUE(asked_->signalled.empty());
  EXPECT_THAT(err_.text, HasSubstr("one of abc, abd"));
}

TEST_F(GuardctlTest, TellsThatNoDaemonRunsFromOneThatDoesNotAnswer) {
  no_daemon_ = Error{Errc::kUnavailable, "no guardd listens at '/s'", ECONNREFUSED, ""};
  EXPECT_EQ(guardctl({"status"}), 1);
  EXPECT_EQ(guardctl({"daemon", "stop", "--socket", "/s/guardd.sock"}), 0);
  EXPECT_THAT(out_.text, HasSubstr("no guardd runs at /s/guardd.sock"));
  no_daemon_ = Error{Errc::kUnavailable, "guardd does not answer", 0, ""};
  EXPECT_EQ(guardctl({"status"}), 5);
  EXPECT_EQ(guardctl({"daemon", "stop"}), 5);
  EXPECT_EQ(guardctl({"daemon", "start"}), 5);
}

TEST_F(GuardctlTest, DoesNotSignalADaemonThatHidesItsPid) {
  for (const pid_t pid : {-1, 0, 1}) {
    facts_.pid = pid;
    EXPECT_EQ(guardctl({"daemon", "stop"}), 5);
  }
  EXPECT_THAT(err_.text, HasSubstr("does not tell its pid"));
}

TEST_F(GuardctlTest, ShowsWhatADaemonSaysWithoutObeyingIt) {
  facts_.version = "9\x1b]0;x";
  facts_.landlock_abi_kernel = 7;
  EXPECT_EQ(guardctl({"status"}), 0);
  EXPECT_EQ(out_.text.find('\x1b'), std::string::npos);
  EXPECT_THAT(out_.text, HasSubstr("Landlock ABI 0 (the kernel has 7)"));
}

TEST_F(GuardctlTest, OffersTheNearestCommand) {
  EXPECT_EQ(guardctl({"rum"}), 2);
  EXPECT_EQ(err_.text,
            "[guardctl] error: unknown command 'rum'\n[guardctl] hint: did you mean run?\n");
}

TEST_F(GuardctlTest, PrintsHelpAndVersion) {
  EXPECT_EQ(guardctl({"help"}), 0);
  EXPECT_THAT(out_.text, HasSubstr("  run "));
  EXPECT_EQ(guardctl({"help", "run"}), 0);
  EXPECT_THAT(out_.text, HasSubstr("--allow-write PATH"));
  EXPECT_EQ(guardctl({"help", "nothing"}), 2);
  out_.text.clear();
  EXPECT_EQ(guardctl({"--version"}), 0);
  EXPECT_THAT(out_.text, StartsWith("guardctl "));
  EXPECT_EQ(guardctl({}), 2);
}

}  // namespace
}  // namespace guard::client
