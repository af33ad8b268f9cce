// All runs of this guardd: who is let in, under which id, and how each comes to its ActiveRun.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/base/result.h"
#include "common/os/clock.h"
#include "common/run/spec.h"
#include "daemon/launch/launcher_client.h"
#include "daemon/runs/active_run.h"
#include "daemon/runs/admission.h"
#include "daemon/runs/preparation.h"
#include "daemon/runs/registry.h"

namespace guard::daemon {

// On the loop.
class Runs {
 public:
  static constexpr std::size_t kMost = 256;

  Runs(const ActiveRun::Surroundings& around, const Preparation& preparation)
      : around_(around), preparation_(preparation), admission_(kMost) {}

  using Launched = std::function<void(Result<std::shared_ptr<ActiveRun>>)>;

  // Admits it, prepares it on a worker, launches it. `launched` is called once, on the loop; with
  // an error nothing ran. Events reach `watcher` after that. `request`: what attach() compares.
  void start(run::Spec spec, RequestDigest request, bool with_input,
             std::shared_ptr<RunWatcher> watcher, Launched launched);

  // Follows the run that has this id, when it is of the same request. False: nobody has the id.
  // kExists: another request has it; kExhausted.
  Result<bool> attach(const std::string& id, RequestDigest request,
                      const std::shared_ptr<RunFollower>& follower) {
    return registry_.attach(id, request, follower, os::now());
  }
  // Whatever its request was. kNotFound, kExhausted.
  Result<> follow(const std::string& id, const std::shared_ptr<RunFollower>& follower) {
    return registry_.follow(id, follower, os::now());
  }

  // Null when no run of that id lives.
  std::shared_ptr<ActiveRun> find(const std::string& id) const { return registry_.find(id); }
  // Of a run that lives or is kept, else kNotFound. Valid until anything else is called here.
  Result<const RunRecord*> record(const std::string& id) { return registry_.record(id, os::now()); }
  std::vector<const RunRecord*> living() const { return registry_.living_records(); }
  std::vector<Retention::Record> kept() { return registry_.kept_records(os::now()); }

  // Nobody is let in any more.
  void close() { closed_ = true; }
  void stop_all(run::Reason reason, ActiveRun::Manner manner);
  bool empty() const { return registry_.empty(); }
  // Of all runs; nothing while one's is not known yet.
  std::optional<std::vector<pid_t>> monitors() const;

 private:
  struct Start;  // between admission and launch
  Result<std::shared_ptr<Start>> admit(run::Spec spec, RequestDigest request);
  void nothing_ran(Start& start, Error why);
  void launch(Start& start, Result<Prepared> prepared);

  ActiveRun::Surroundings around_;
  const Preparation& preparation_;
  Admission admission_;
  Registry registry_;
  bool closed_ = false;
};

}  // namespace guard::daemon
