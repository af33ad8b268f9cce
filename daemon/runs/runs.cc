#include "daemon/runs/runs.h"

#include <chrono>

#include <boost/asio/post.hpp>

#include "common/base/run_id.h"

namespace guard::daemon {

struct Runs::Start {
  run::Spec spec;
  std::string id;
  Admission::Place place;
  bool with_input = false;
  std::shared_ptr<RunWatcher> watcher;
  Launched launched;
};

Result<std::shared_ptr<Runs::Start>> Runs::admit(run::Spec spec, RequestDigest request) {
  if (closed_) return failure(Errc::kUnavailable, "guardd is shutting down");
  GUARD_ASSIGN(Admission::Place place, admission_.admit());
  std::string id = spec.run_id.empty() ? new_run_id() : spec.run_id;
  GUARD_TRY(registry_.reserve(id, request, spec.argv, os::now()));
  auto start = std::make_shared<Start>();
  start->spec = std::move(spec);
  start->id = std::move(id);
  start->place = std::move(place);
  return start;
}

void Runs::start(run::Spec spec, RequestDigest request, bool with_input,
                 std::shared_ptr<RunWatcher> watcher, Launched launched) {
  auto admitted = admit(std::move(spec), request);
  if (!admitted) return launched(std::unexpected(std::move(admitted).error()));
  const std::shared_ptr<Start> start = *std::move(admitted);
  start->with_input = with_input;
  start->watcher = std::move(watcher);
  start->launched = std::move(launched);
  boost::asio::post(around_.workers, [this, start] {
    auto prepared = std::make_shared<Result<Prepared>>(preparation_.prepare(start->spec));
    boost::asio::post(around_.loop,
                      [this, start, prepared] { launch(*start, std::move(*prepared)); });
  });
}

void Runs::launch(Start& start, Result<Prepared> prepared) {
  if (prepared && closed_) {
    boost::asio::post(around_.workers,
                      [unused = std::make_shared<Prepared>(*std::move(prepared))] {});
    prepared = failure(Errc::kUnavailable, "guardd is shutting down");
  }
  if (!prepared) return nothing_ran(start, std::move(prepared).error());
  const ActiveRun::Told told{.started =
                                 [this](const ActiveRun& run, run::Started started) {
                                   registry_.started(run.id(), run.state().pid(),
                                                     std::move(started),
                                                     std::chrono::system_clock::now());
                                 },
                             .over =
                                 [this](const ActiveRun& run, const run::RunResult& result) {
                                   registry_.ended(run.id(), result, run.state().report(),
                                                   std::chrono::system_clock::now(), os::now());
                                 }};
  const auto run = std::make_shared<ActiveRun>(around_, start.id, std::move(start.place), told);
  registry_.add(start.id, run);
  auto handed = run->launch(*std::move(prepared), start.with_input, std::move(start.watcher));
  if (!handed) return nothing_ran(start, std::move(handed).error());
  start.launched(run);
}

void Runs::nothing_ran(Start& start, Error why) {
  start.place = {};
  registry_.release(start.id, why);
  start.launched(std::unexpected(std::move(why)));
}

std::optional<std::vector<pid_t>> Runs::monitors() const {
  std::vector<pid_t> pids;
  for (const auto& run : registry_.living()) {
    const auto pid = run->monitor();
    if (!pid) return std::nullopt;
    if (*pid > 0) pids.push_back(*pid);
  }
  return pids;
}

void Runs::stop_all(run::Reason reason, ActiveRun::Manner manner) {
  for (const auto& run : registry_.living()) run->stop(reason, manner);
}

}  // namespace guard::daemon
