#include "common/os/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/os/sys.h"

namespace guard::os {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

}  // namespace

Result<UniqueFd> sealed_memfd(const char* name, std::string_view bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return os_failure("memfd_create");
  GUARD_TRY(write_all(fd.get(), bytes));
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) < 0) return os_failure("fcntl F_ADD_SEALS");
  return fd;
}

Result<std::string> read_sealed_memfd(int fd, std::size_t max) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0) return failure(Errc::kInvalid, "not a memfd");
  if ((seals & kSeals) != kSeals) return failure(Errc::kInvalid, "the memfd is not sealed");
  GUARD_ASSIGN(const struct stat status, stat_of(fd));
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > max)
    return failure(Errc::kInvalid, "the memfd holds more than " + std::to_string(max) + " bytes");
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const ssize_t got = ::pread(fd, bytes.data() + at, size - at, static_cast<off_t>(at));
    if (got < 0) return os_failure("pread");
    if (got == 0) return failure(Errc::kInternal, "the memfd ended early");
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace guard::os
