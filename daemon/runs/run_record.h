// What guardd remembers of a run, while it lives and for a while after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/run/event.h"
#include "common/run/info.h"
#include "common/sandbox/report.h"

namespace guard::daemon {

// Tells requests under one id apart: FNV-1a, 128 bits. Not one against forgers, for both requests
// come from the same user, who could ask for either run.
struct RequestDigest {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const RequestDigest&, const RequestDigest&) = default;
};
RequestDigest digest_of(std::string_view bytes);

// A report that shares the lines of the system base, most of it, with other reports.
class KeptReport {
 public:
  using Lines = std::vector<sandbox::GrantLine>;

  KeptReport() = default;
  // `before`: a report that is likely to have the same base.
  KeptReport(sandbox::Report report, const KeptReport& before);

  sandbox::Report whole() const;
  std::size_t bytes() const;  // about; without what it shares

 private:
  sandbox::Report own_;  // without the base
  std::shared_ptr<const Lines> base_;
  std::size_t base_at_ = 0;  // where it stood
};

struct RunRecord {
  run::Info info;
  RequestDigest request;
  KeptReport report;               // of a run that started or has ended
  std::vector<std::string> notes;  // as in run::Started
  std::size_t bytes() const;       // about
};

// A call that hears how a run goes and does not steer it. On the loop, each at most once, in this
// order, and one of the last two is the last.
class RunFollower {
 public:
  virtual ~RunFollower() = default;
  virtual void on_started(const RunRecord& record) = 0;
  virtual void on_finished(const RunRecord& record) = 0;
  virtual void on_nothing_ran(const Error& why) = 0;
};

}  // namespace guard::daemon
