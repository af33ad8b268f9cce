// Starting guardd when none runs: the embedded default, without systemd.
//
// The new daemon belongs to nobody: its own session, no terminal, no descriptor of ours but its log
// and the pipe by which it says that it listens. It gets a short environment of its own, so that
// LD_PRELOAD and its like in the caller's never reach a process that makes sandboxes. It ends by
// itself when it has been idle for five minutes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::client {

// Starts a guardd on `socket` and connects to it. Any number of clients may do so at once: a lock
// file beside the socket lets one of them start it, the others connect. kUnavailable: it did not
// start; `what` has the last line that it wrote to its log.
Result<os::UniqueFd> start_and_connect(const std::string& socket,
                                       const std::function<Result<os::UniqueFd>()>& connect);

// Where guardd may be, in order: beside `executable`, in ../libexec/guardd/, in ../sbin. Never
// searched in PATH: that is the caller's to set.
std::vector<std::string> guardd_candidates(std::string_view executable);

// The first of those for this program that can be executed; kUnavailable when none can.
Result<std::string> find_guardd();

// What guardd gets of the caller's variables.
std::vector<std::string> daemon_environment(const std::vector<std::string>& caller);

}  // namespace guard::client
