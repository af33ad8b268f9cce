// Looking at this machine: all input and output of `guardctl doctor` but the question to guardd.
#pragma once

#include <string>

#include "client/doctor/facts.h"

namespace guard::doctor {

// Changes nothing: makes no folder, starts no daemon. `socket_flag`: of --socket, or empty. Whether
// guardd answers is the caller's to add; nobody is to be asked when its state is kHeld. Every file
// is read up to a limit; one that cannot be read leaves its fact at "unknown".
Facts gather(const std::string& socket_flag);

}  // namespace guard::doctor
