// The monitor's child, from fork(2) to execve(2).
//
// Everything that needs memory is done before the fork, by prepare(). run() makes raw system calls
// only: no allocation, no lock, no errno. It tells the monitor how it went by records in a socket
// that execve closes: the end without a kFailed record, after a kTrying one, is the proof that the
// program runs.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/sandbox/enforce.h"
#include "common/sandbox/seccomp/program.h"
#include "common/supervise/launch_protocol.h"

namespace guard::supervise {

enum class RecordKind : std::uint32_t {
  kTrying = 1,  // candidate `index` is executed now
  kPassedOver =
      2,          // it could not be (`error`) and there is another; not sent for what is not there
  kFailed = 3,    // the last record: stage, error, index, axis; the child exits
  kGate = 4,      // with the listener of its group gate (group_gate.h)
  kInCgroup = 5,  // it is in its control group now (run_cgroup.h)
};

// One record, one datagram.
struct PayloadRecord {
  RecordKind kind{};
  std::uint32_t stage = 0;  // sandbox::Stage
  std::int32_t error = 0;
  std::uint32_t index = 0;
  std::uint32_t axis = 0;
};

class Payload {
 public:
  struct Custody {
    int scope_ruleset = -1;  // put on a program that is not confined, so that it too cannot signal
                             // its monitor
    bool gated = false;      // by a GroupGate, if the kernel lets us
    int cgroup_door = -1;    // RunCgroup::door(); borrowed
  };
  // Borrows `launch`, takes the descriptors. `records`: SOCK_SEQPACKET.
  static Result<Payload> prepare(const Launch& launch, LaunchFds fds, os::UniqueFd records,
                                 const Custody& custody);

  // In the forked child, once. Ends in the program or in _exit(127).
  [[noreturn]] void run() const noexcept;

 private:
  Payload() = default;
  void arrange_descriptors() const noexcept;
  void leave_the_monitor() const noexcept;
  void enter_cgroup() const noexcept;
  void close_gate() const noexcept;
  void put_sandbox_on() const noexcept;
  [[noreturn]] void execute() const noexcept;
  [[noreturn]] void fail(sandbox::Stage stage, long error, std::uint32_t index = 0,
                         std::uint32_t axis = 0) const noexcept;

  const Launch* launch_ = nullptr;
  std::vector<const char*> argv_, env_, candidates_;  // the first two end in a null
  std::string oom_score_;
  sandbox::Orders orders_;
  seccomp::Program gate_;  // empty: none
  // All numbered above what run() assigns, so that no order of dup3 overwrites a source.
  os::UniqueFd stdin_, stdout_, stderr_, result_, cwd_, records_, ruleset_, canary_, cgroup_;
};

}  // namespace guard::supervise
