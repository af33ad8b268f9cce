// The one function that puts a sandbox on: xenarch-guard calls it on itself, the monitor's child
// between fork and execve(2).
//
// enforce() makes raw system calls only: no allocation, no lock, no errno, no thread-local storage,
// so it may run after fork(2) in any process and after clone(CLONE_VM).
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/sandbox/grants.h"
#include "common/sandbox/plan.h"

namespace guard::sandbox {

// Where putting the sandbox on (or the exec after it) stopped. Sent as a number between processes:
// values are never reused.
enum class Stage : std::uint8_t {
  kNone = 0,
  kSetup = 1,         // descriptors, session, signals, working directory
  kLimits = 2,        // setrlimit(2)
  kCapabilities = 3,  // capset(2), bounding set
  kNoNewPrivs = 4,    // prctl(PR_SET_NO_NEW_PRIVS)
  kLandlock = 5,      // landlock_restrict_self(2); E2BIG: 16 layers are already on
  kSeccomp = 6,       // seccomp(2)
  kWitness = 7,       // something that must be refused was not
  kExec = 8,          // execve(2) of the program
};

// What enforce() reads: flat, so that it can cross a process boundary and be used after fork.
// Borrows everything.
struct Orders {
  bool confine = true;
  bool drop_capabilities = true;
  int ruleset_fd = -1;
  const sock_filter* filter = nullptr;
  std::uint16_t filter_length = 0;
  const Limit* limits = nullptr;
  std::size_t limit_count = 0;
  // The witness's canary: a file that is readable before and must not be after.
  int canary_dir_fd = -1;
  const char* canary_name = nullptr;
};

struct Outcome {
  Stage stage = Stage::kNone;  // kNone: the sandbox is on and was seen to hold
  int error = 0;               // errno of the failed step; for kWitness 0
  std::uint8_t axis = 0;       // for kWitness: which WitnessAxis let something through
};

Outcome enforce(const Orders& orders) noexcept;

// A Plan made ready: owns the ruleset descriptor and the arrays that Orders borrows.
class Staged {
 public:
  Orders orders() const;  // valid while this lives
  int ruleset_fd() const { return ruleset_.get(); }
  const std::vector<sock_filter>& filter() const { return filter_; }
  const std::vector<Limit>& limits() const { return limits_; }

 private:
  friend Result<Staged> stage(const Plan&, const ResolvedPolicy&, seccomp::Program);
  bool confine_ = true;
  os::UniqueFd ruleset_;
  std::vector<sock_filter> filter_;
  std::vector<Limit> limits_;
};

// Builds the ruleset (landlock_create_ruleset, landlock_add_rule for every rule: a failure is an
// error that names the path, never a rule left out) and the filter. The canary is the caller's to
// set (canary.h).
Result<Staged> stage(const Plan& plan, const ResolvedPolicy& grants);

// With a filter that was built before, for this very plan.filter: building one takes milliseconds.
Result<Staged> stage(const Plan& plan, const ResolvedPolicy& grants, seccomp::Program filter);

}  // namespace guard::sandbox
