#include "daemon/runs/registry.h"

#include <algorithm>
#include <utility>

#include "common/base/visible.h"

namespace guard::daemon {
namespace {

std::unexpected<Error> unknown(const std::string& id) {
  return failure(
      Errc::kNotFound, "run_id '" + visible(id) + "': no such run",
      "a result is kept for 15 minutes after its run's end, and not beyond guardd's own");
}

std::unexpected<Error> taken(const std::string& id) {
  return failure(Errc::kExists, "run_id '" + id + "' is taken by another request",
                 "choose another, or send none");
}

template <class Tell>
void tell(const std::vector<std::weak_ptr<RunFollower>>& followers, Tell what) {
  for (const auto& weak : followers) {
    if (const auto follower = weak.lock()) what(*follower);
  }
}

}  // namespace

Result<> Registry::reserve(const std::string& id, RequestDigest request,
                           const std::vector<std::string>& argv, os::Instant now) {
  if (known(id, now) != nullptr) return taken(id);
  Living living;
  living.record.info.run_id = id;
  run::show_args(living.record.info, argv);
  living.record.request = request;
  living.number = next_number_++;
  living_.emplace(id, std::move(living));
  return {};
}

void Registry::add(const std::string& id, std::shared_ptr<ActiveRun> run) {
  living_[id].run = std::move(run);
}

void Registry::started(const std::string& id, pid_t pid, run::Started started, run::WallTime at) {
  Living& living = living_[id];
  RunRecord& record = living.record;
  record.info.state = run::State::kRunning;
  record.info.started_at = at;
  record.info.pid = pid;
  record.report = KeptReport(std::move(started.report), last_report_);
  record.notes = std::move(started.notes);
  last_report_ = record.report;
  tell(living.followers, [&](RunFollower& follower) { follower.on_started(record); });
}

void Registry::ended(const std::string& id, run::RunResult result, sandbox::Report report,
                     run::WallTime at, os::Instant now) {
  auto node = living_.extract(id);
  if (node.empty()) return;
  Living& living = node.mapped();
  run::Info& info = living.record.info;
  info.state = run::State::kFinished;
  info.pid = 0;
  info.finished_at = at;
  info.result = std::move(result);
  if (!info.started_at) living.record.report = KeptReport(std::move(report), last_report_);
  const auto kept = std::make_shared<const RunRecord>(std::move(living.record));
  retention_.keep(kept, now);
  tell(living.followers, [&](RunFollower& follower) { follower.on_finished(*kept); });
}

void Registry::release(const std::string& id, const Error& why) {
  const auto node = living_.extract(id);
  if (node.empty()) return;
  tell(node.mapped().followers, [&](RunFollower& follower) { follower.on_nothing_ran(why); });
}

std::shared_ptr<ActiveRun> Registry::find(const std::string& id) const {
  const auto run = living_.find(id);
  return run == living_.end() ? nullptr : run->second.run;
}

const RunRecord* Registry::known(const std::string& id, os::Instant now) {
  if (const auto found = living_.find(id); found != living_.end()) return &found->second.record;
  return retention_.find(id, now).get();
}

Result<const RunRecord*> Registry::record(const std::string& id, os::Instant now) {
  const RunRecord* const found = known(id, now);
  if (found == nullptr) return unknown(id);
  return found;
}

Result<> Registry::follow(const std::string& id, const std::shared_ptr<RunFollower>& follower,
                          os::Instant now) {
  const auto found = living_.find(id);
  if (found == living_.end()) {
    const Retention::Record kept = retention_.find(id, now);
    if (!kept) return unknown(id);
    if (kept->info.started_at) follower->on_started(*kept);
    follower->on_finished(*kept);
    return {};
  }
  auto& [record, run, followers, number] = found->second;
  std::erase_if(followers, [](const auto& weak) { return weak.expired(); });
  if (followers.size() >= kMostFollowers) {
    return failure(Errc::kExhausted, "run_id '" + id + "': " + std::to_string(kMostFollowers) +
                                         " calls follow this run already");
  }
  followers.push_back(follower);
  if (record.info.started_at) follower->on_started(record);
  return {};
}

Result<bool> Registry::attach(const std::string& id, RequestDigest request,
                              const std::shared_ptr<RunFollower>& follower, os::Instant now) {
  const RunRecord* const found = known(id, now);
  if (found == nullptr) return false;
  if (found->request != request) return taken(id);
  GUARD_TRY(follow(id, follower, now));
  return true;
}

std::vector<std::shared_ptr<ActiveRun>> Registry::living() const {
  std::vector<std::shared_ptr<ActiveRun>> runs;
  for (const auto& [id, living] : living_) {
    if (living.run) runs.push_back(living.run);
  }
  return runs;
}

std::vector<const RunRecord*> Registry::living_records() const {
  std::vector<const Living*> newest_first;
  newest_first.reserve(living_.size());
  for (const auto& [id, living] : living_) newest_first.push_back(&living);
  std::ranges::sort(newest_first, std::ranges::greater{}, &Living::number);
  std::vector<const RunRecord*> records;
  records.reserve(newest_first.size());
  for (const Living* living : newest_first) records.push_back(&living->record);
  return records;
}

std::vector<Retention::Record> Registry::kept_records(os::Instant now) {
  auto records = retention_.all(now);
  std::ranges::reverse(records);
  return records;
}

}  // namespace guard::daemon
