// Bytes handed to another process in a descriptor that neither side can change any more:
// memfd_create(2) with every seal on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::os {

// `name` shows in /proc/PID/maps only.
Result<UniqueFd> sealed_memfd(const char* name, std::string_view bytes);

// All of it, copied. kInvalid when it is not a memfd, lacks a seal (its writer could still change
// what was checked), or holds more than `max` bytes.
Result<std::string> read_sealed_memfd(int fd, std::size_t max);

}  // namespace guard::os
