#include "daemon/runs/retention.h"

#include <utility>

namespace guard::daemon {

void Retention::keep(Record record, os::Instant now) {
  drop_expired(now);
  const std::size_t bytes = record->bytes();
  by_id_.emplace(record->info.run_id, record);
  kept_.push_back({std::move(record), now + limits_.age, bytes});
  bytes_ += bytes;
  while (kept_.size() > 1 && (kept_.size() > limits_.results || bytes_ > limits_.bytes)) {
    drop_oldest();
  }
}

Retention::Record Retention::find(const std::string& id, os::Instant now) {
  drop_expired(now);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<Retention::Record> Retention::all(os::Instant now) {
  drop_expired(now);
  std::vector<Record> records;
  records.reserve(kept_.size());
  for (const Kept& kept : kept_) records.push_back(kept.record);
  return records;
}

void Retention::drop_oldest() {
  bytes_ -= kept_.front().bytes;
  by_id_.erase(kept_.front().record->info.run_id);
  kept_.pop_front();
}

void Retention::drop_expired(os::Instant now) {
  while (!kept_.empty() && kept_.front().until <= now) drop_oldest();
}

}  // namespace guard::daemon
