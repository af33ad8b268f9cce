// The runs of this guardd by their id: those that live, and for a while those that have ended.
//
// The id is the key by which a request that is sent twice runs once: the second call finds the run
// here and follows it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/os/clock.h"
#include "common/run/event.h"
#include "common/run/info.h"
#include "daemon/runs/retention.h"
#include "daemon/runs/run_record.h"

namespace guard::daemon {

class ActiveRun;

class Registry {
 public:
  static constexpr std::size_t kMostFollowers = 256;  // of one run

  // A run that is being prepared. kExists when the id lives or is kept.
  Result<> reserve(const std::string& id, RequestDigest request,
                   const std::vector<std::string>& argv, os::Instant now);
  // Of a reserved id.
  void add(const std::string& id, std::shared_ptr<ActiveRun> run);
  // Its program has been executed.
  void started(const std::string& id, pid_t pid, run::Started started, run::WallTime at);
  // It has ended: followers are told, its result is kept. `report`: of one that never started.
  void ended(const std::string& id, run::RunResult result, sandbox::Report report, run::WallTime at,
             os::Instant now);
  // Nothing ran under it: followers are told, the id is free again.
  void release(const std::string& id, const Error& why);

  // Null when none lives, or it is only reserved.
  std::shared_ptr<ActiveRun> find(const std::string& id) const;
  // Living or kept, else kNotFound. Valid until anything else is called here.
  Result<const RunRecord*> record(const std::string& id, os::Instant now);

  // Tells it, at once or later, what becomes of a run; a follower that is destroyed hears no more.
  // kNotFound; kExhausted.
  Result<> follow(const std::string& id, const std::shared_ptr<RunFollower>& follower,
                  os::Instant now);
  // The same for a call with the same request. False: nobody has the id. kExists: another request
  // has it.
  Result<bool> attach(const std::string& id, RequestDigest request,
                      const std::shared_ptr<RunFollower>& follower, os::Instant now);

  std::vector<std::shared_ptr<ActiveRun>> living() const;
  bool empty() const { return living_.empty(); }  // reserved ones count

  // Newest first.
  std::vector<const RunRecord*> living_records() const;
  // The last that ended first.
  std::vector<Retention::Record> kept_records(os::Instant now);

 private:
  struct Living {
    RunRecord record;
    std::shared_ptr<ActiveRun> run;  // null: being prepared
    std::vector<std::weak_ptr<RunFollower>> followers;
    std::uint64_t number = 0;  // they are numbered as they come
  };

  const RunRecord* known(const std::string& id, os::Instant now);

  std::map<std::string, Living> living_;
  Retention retention_;
  KeptReport last_report_;
  std::uint64_t next_number_ = 0;
};

}  // namespace guard::daemon
