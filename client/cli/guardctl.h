// guardctl without its process: the choice of the command, errors told, the exit code.
#pragma once

#include <span>
#include <string>

#include "client/cli/context.h"

namespace guard::client {

// `arguments` without argv[0].
int guardctl(std::span<const std::string> arguments, Context& context);

}  // namespace guard::client
