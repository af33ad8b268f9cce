// All runs of this guardd: who is let in, under which id, and how each comes to its ActiveRun.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/base/result.h"
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
  // an error nothing ran. Events reach `watcher` after that.
  void start(run::Spec spec, bool with_input, std::shared_ptr<RunWatcher> watcher,
             Launched launched);

  // Null when no run of that id lives.
  std::shared_ptr<ActiveRun> find(const std::string& id) const { return registry_.find(id); }

  // Nobody is let in any more.
  void close() { closed_ = true; }
  void stop_all(run::Reason reason, ActiveRun::Manner manner);
  bool empty() const { return registry_.empty(); }

 private:
  struct Start;  // between admission and launch
  Result<std::shared_ptr<Start>> admit(run::Spec spec);
  void launch(Start& start, Result<Prepared> prepared);

  ActiveRun::Surroundings around_;
  const Preparation& preparation_;
  Admission admission_;
  Registry registry_;
  bool closed_ = false;
};

}  // namespace guard::daemon
