// Thin system calls as values: one function each, EINTR retried, descriptors always close-on-exec
// and owned, the call and its object named in the error. No policy.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::os {

// open(2), openat(2); O_CLOEXEC is added. The error names the path as given, in quotes.
Result<UniqueFd> open(const std::string& path, int flags, mode_t mode = 0);
Result<UniqueFd> open_at(int directory, const std::string& path, int flags, mode_t mode = 0);

// fcntl(F_DUPFD_CLOEXEC): a copy numbered `lowest` or above.
Result<UniqueFd> duplicate(int fd, int lowest = 3);
Result<> set_nonblocking(int fd, bool on = true);

// read(2) once; 0 is the end. A non-blocking descriptor with nothing to read: os_errno EAGAIN.
Result<std::size_t> read_some(int fd, char* buffer, std::size_t size);
// Reads to the end. kInvalid when there are more than `max` bytes (files of /proc have no size).
Result<std::string> read_all(int fd, std::size_t max);
Result<std::string> read_file(const std::string& path, std::size_t max);
// Writes every byte; the descriptor is a blocking one. EPIPE is an error when SIGPIPE is ignored.
Result<> write_all(int fd, std::string_view bytes);

Result<struct stat> stat_of(int fd);
// readlinkat(2), any length.
Result<std::string> read_link_at(int directory, const std::string& path);

}  // namespace guard::os
