// What the command line needs of guardd, as an interface: the real one speaks gRPC (grpc_client.h),
// tests pass a fake.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/run/event.h"
#include "common/run/info.h"
#include "common/run/spec.h"
#include "common/sandbox/policy.h"
#include "common/sandbox/report.h"

namespace guard::client {

// One run in flight. next() belongs to one thread; the others may be called from any thread, also
// while next() waits. Destroying it before its end cancels the run.
class RunCall {
 public:
  virtual ~RunCall() = default;

  // Waits for what happens next. The last event is run::Finished; nullopt afterwards, or when the
  // call ended without one. An error: before any event nothing ran, afterwards the run is lost.
  virtual Result<std::optional<run::Event>> next() = 0;

  // Blocks while the program does not read. False: the call is over.
  virtual bool send_stdin(std::string_view bytes) = 0;
  virtual void close_stdin() = 0;

  // To the program's process group. False: it could not be delivered.
  virtual bool signal(int number) = 0;

  // Kills the run; next() ends soon.
  virtual void cancel() = 0;
};

// What a guardd says of itself.
struct DaemonFacts {
  std::string version;
  std::vector<std::string> features;
  pid_t pid = 0;
  std::optional<run::WallTime> started_at;  // none: one of an older release
  std::string kernel;                       // uname -r
  int landlock_abi = 0;                     // used
  int landlock_abi_kernel = 0;
  std::string tree_kill;  // "landlock scope", "sweep"
};

struct RunList {
  std::vector<run::Info> runs;  // newest first, those that live before the others
  bool truncated = false;       // older ones were left out
  std::uint32_t live = 0;       // of all, whether in `runs` or not
  std::uint32_t kept = 0;
};

// An UNIMPLEMENTED answer becomes kUnimplemented that names the guardd, and what to do when it is
// of another release than this client.
class GuardClient {
 public:
  virtual ~GuardClient() = default;

  // Sends the request; that it was refused is told by the first next().
  virtual Result<std::unique_ptr<RunCall>> run(const run::Spec& spec) = 0;

  // What such a run would get, without running anything.
  virtual Result<sandbox::Report> check(const sandbox::Policy& policy,
                                        const std::string& cwd_grant) = 0;

  virtual Result<RunList> list(bool include_finished) = 0;
  // Returns at the end of the run. kNotFound: no such run lives and no result of it is kept.
  virtual Result<run::RunResult> wait(const std::string& run_id) = 0;
  // To the program's process group. kNotFound: no such run lives.
  virtual Result<> signal(const std::string& run_id, int number) = 0;
  virtual Result<DaemonFacts> capabilities() = 0;
};

}  // namespace guard::client
