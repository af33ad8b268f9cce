// Descriptors 0, 1 and 2, which the program keeps: what of them opens more than a stream.
#pragma once

#include "common/base/result.h"

namespace guard::client {

// A number below 3 that is closed would be given to the next file we open. Takes the free ones up
// until exec, when they are free again.
void occupy_closed_streams();

// kInvalid for what a sandbox cannot hold: a folder (*at() calls start from it), a datagram socket
// or one without a peer (they reach any address).
Result<> check_standard_streams();

// A terminal is open for reading and writing, whichever way it is handed over: from stdout a
// program without a terminal on stdin could read what the user types. Opens it again for writing
// only. Left alone when stdin is that terminal: nothing is gained then, and pagers read keys from
// stderr. False when a terminal that should be opened again could not be.
bool make_terminals_write_only();

}  // namespace guard::client
