#include "client/render/terminal.h"

#include <unistd.h>

#include "common/sandbox/environment.h"

namespace guard::client {

bool wants_color(int fd, const std::vector<std::string>& environment) {
  return ::isatty(fd) == 1 && sandbox::value_of(environment, "NO_COLOR").empty() &&
         sandbox::value_of(environment, "TERM") != "dumb";
}

}  // namespace guard::client
