// A connection to the guardd that answers, started when none runs.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::client {

struct Endpoint {
  std::string socket;     // os::socket_path()
  bool autostart = true;  // start guardd when nobody listens
};

// A socket on whose other end guardd has spoken: its first bytes are there to be read. So a daemon
// that was just about to exit is found out before anything is asked of it, and another one is
// started; no request is ever sent twice.
//
// kUnavailable: nobody listens (and none could be started), or it does not answer within 20 s.
// kDenied: inside a sandbox, where there is no way to guardd and none is started.
Result<os::UniqueFd> connect_guardd(const Endpoint& endpoint);

// Of connect_guardd() without autostart: there is none, as opposed to one that does not answer.
bool none_listens(const Error& error);

// Whether this process is in a sandbox such as ours: no new privileges and a system call filter.
// Asks prctl(2), not /proc, which a sandbox may hide.
bool is_confined();

}  // namespace guard::client
