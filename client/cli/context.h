// What a command works with: passed in, so that a test passes fakes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/render/byte_sink.h"
#include "client/render/messages.h"
#include "client/render/terminal.h"
#include "client/rpc/connection.h"
#include "client/rpc/guard_client.h"
#include "common/base/result.h"

namespace guard::client {

using Connect = std::function<Result<std::unique_ptr<GuardClient>>(const Endpoint&)>;

struct Context {
  ByteSink& out;       // standard output
  Messages& messages;  // standard error
  std::vector<std::string> environment;
  std::string cwd;         // absolute; empty: it was removed
  int stdin_fd = 0;        // borrowed
  bool is_process = true;  // false in tests: signals are left alone
  unsigned umask = 022;
  TextStyle out_style = {};  // of what is written for people
  Connect connect;           // called only when the request is known to be sound
};

}  // namespace guard::client
