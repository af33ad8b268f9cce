// The runs of this guardd by their id: those that live, and the ids of some that have ended, so
// that a request sent twice does not run twice.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace guard::daemon {

class ActiveRun;

class Registry {
 public:
  static constexpr std::size_t kRemembered = 1000;

  // kExists when the id lives or is remembered.
  Result<> reserve(const std::string& id);
  // Of a reserved id.
  void add(const std::string& id, std::shared_ptr<ActiveRun> run);
  // It has ended: the id stays taken for a while.
  void ended(const std::string& id);
  // Nothing ran under it: it is free again.
  void release(const std::string& id);

  // Null when none lives, or it is only reserved.
  std::shared_ptr<ActiveRun> find(const std::string& id) const;

  std::vector<std::shared_ptr<ActiveRun>> living() const;
  bool empty() const { return living_.empty(); }  // reserved ones count

 private:
  std::map<std::string, std::shared_ptr<ActiveRun>> living_;
  std::set<std::string> remembered_;
  std::deque<std::string> order_;
};

}  // namespace guard::daemon
