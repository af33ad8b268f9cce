#include "daemon/runs/registry.h"

namespace guard::daemon {

Result<> Registry::reserve(const std::string& id) {
  if (living_.contains(id) || remembered_.contains(id)) {
    return failure(Errc::kExists, "run_id '" + id + "' is taken", "choose another, or send none");
  }
  living_.emplace(id, nullptr);
  return {};
}

void Registry::add(const std::string& id, std::shared_ptr<ActiveRun> run) {
  living_[id] = std::move(run);
}

void Registry::ended(const std::string& id) {
  living_.erase(id);
  if (!remembered_.insert(id).second) return;
  order_.push_back(id);
  if (order_.size() <= kRemembered) return;
  remembered_.erase(order_.front());
  order_.pop_front();
}

void Registry::release(const std::string& id) { living_.erase(id); }

std::shared_ptr<ActiveRun> Registry::find(const std::string& id) const {
  const auto run = living_.find(id);
  return run == living_.end() ? nullptr : run->second;
}

std::vector<std::shared_ptr<ActiveRun>> Registry::living() const {
  std::vector<std::shared_ptr<ActiveRun>> runs;
  for (const auto& [id, run] : living_) {
    if (run) runs.push_back(run);
  }
  return runs;
}

}  // namespace guard::daemon
