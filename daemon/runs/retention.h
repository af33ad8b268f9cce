// The results of runs that have ended, for whoever asks later: the last ones, for a while.
//
// Each kind of excess is bounded: their age, their number, and the memory they take. The newest one
// is kept however large it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/os/clock.h"
#include "daemon/runs/run_record.h"

namespace guard::daemon {

class Retention {
 public:
  struct Limits {
    std::size_t results = 1000;
    std::size_t bytes = 32u << 20;
    std::chrono::minutes age{15};
  };
  Retention() = default;
  explicit Retention(Limits limits) : limits_(limits) {}

  using Record = std::shared_ptr<const RunRecord>;

  // Of an id that is not kept.
  void keep(Record record, os::Instant now);
  // Null when it is not kept, or not any more.
  Record find(const std::string& id, os::Instant now);
  // The one that ended first comes first.
  std::vector<Record> all(os::Instant now);

 private:
  struct Kept {
    Record record;
    os::Instant until;
    std::size_t bytes = 0;
  };
  void drop_oldest();
  void drop_expired(os::Instant now);

  Limits limits_;
  std::deque<Kept> kept_;  // in the order of their ends
  std::map<std::string, Record> by_id_;
  std::size_t bytes_ = 0;
};

}  // namespace guard::daemon
