// What --help and --list-syscalls print.
#pragma once

#include <string>

#include "common/sandbox/seccomp/filter_spec.h"

namespace guard::client {

std::string help_text();
std::string syscall_text(const seccomp::FilterSpec& spec);

}  // namespace guard::client
