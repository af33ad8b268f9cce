// A guardd made of a script: what each call answers, and what it was asked.
#pragma once

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "client/rpc/guard_client.h"

namespace guard::client {

// What a test looks at afterwards; outlives the calls, whose threads may still hold them.
struct Asked {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<run::Spec> runs;
  std::vector<std::string> cwd_grants;
  std::string input;
  bool input_closed = false;
  bool cancelled = false;
  std::vector<int> signals;
  bool listed_finished = false;
  std::vector<std::string> waited_for;
  std::vector<std::pair<std::string, int>> signalled;

  void wait_for_end_of_input() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return input_closed; });
  }
};

using Answer = Result<std::optional<run::Event>>;

class FakeCall final : public RunCall {
 public:
  FakeCall(std::shared_ptr<Asked> asked, std::deque<Answer> answers, bool wait_for_input)
      : asked_(std::move(asked)), answers_(std::move(answers)), wait_for_input_(wait_for_input) {}

  Answer next() override {
    if (answers_.size() == 1 && wait_for_input_) asked_->wait_for_end_of_input();
    if (answers_.empty()) return std::optional<run::Event>{};
    Answer answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }
  bool send_stdin(std::string_view bytes) override {
    const std::lock_guard lock(asked_->mutex);
    asked_->input += bytes;
    return true;
  }
  void close_stdin() override {
    const std::lock_guard lock(asked_->mutex);
    asked_->input_closed = true;
    asked_->changed.notify_all();
  }
  bool signal(int number) override {
    const std::lock_guard lock(asked_->mutex);
    asked_->signals.push_back(number);
    return true;
  }
  void cancel() override {
    const std::lock_guard lock(asked_->mutex);
    asked_->cancelled = true;
  }

 private:
  std::shared_ptr<Asked> asked_;
  std::deque<Answer> answers_;
  bool wait_for_input_;
};

class FakeGuard final : public GuardClient {
 public:
  explicit FakeGuard(std::shared_ptr<Asked> asked) : asked_(std::move(asked)) {}

  Result<std::unique_ptr<RunCall>> run(const run::Spec& spec) override {
    asked_->runs.push_back(spec);
    return std::make_unique<FakeCall>(asked_, answers, wait_for_input);
  }
  Result<sandbox::Report> check(const sandbox::Policy&, const std::string& cwd_grant) override {
    asked_->cwd_grants.push_back(cwd_grant);
    return report;
  }

  Result<RunList> list(bool include_finished) override {
    asked_->listed_finished = include_finished;
    return runs;
  }
  Result<run::RunResult> wait(const std::string& run_id) override {
    asked_->waited_for.push_back(run_id);
    return result;
  }
  Result<> signal(const std::string& run_id, int number) override {
    asked_->signalled.emplace_back(run_id, number);
    if (run_id.starts_with("gone")) return failure(Errc::kNotFound, run_id + " has ended");
    return {};
  }
  Result<DaemonFacts> capabilities() override { return facts; }

  std::deque<Answer> answers;
  RunList runs;
  Result<run::RunResult> result;
  DaemonFacts facts;
  bool wait_for_input = false;  // the last answer comes after the end of standard input
  Result<sandbox::Report> report;

 private:
  std::shared_ptr<Asked> asked_;
};

}  // namespace guard::client
