// What the command line needs of guardd, as an interface: the real one speaks gRPC (grpc_client.h),
// tests pass a fake.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/run/event.h"
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

class GuardClient {
 public:
  virtual ~GuardClient() = default;

  // Sends the request; that it was refused is told by the first next().
  virtual Result<std::unique_ptr<RunCall>> run(const run::Spec& spec) = 0;

  // What such a run would get, without running anything.
  virtual Result<sandbox::Report> check(const sandbox::Policy& policy,
                                        const std::string& cwd_grant) = 0;
};

}  // namespace guard::client
