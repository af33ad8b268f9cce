#include "daemon/transport/cookie.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "common/os/runtime_dir.h"
#include "common/os/sys.h"

namespace guard::daemon {
namespace {

Result<std::string> random_hex() {
  std::array<unsigned char, os::kCookieDigits / 2> bytes{};
  // Never short and never interrupted up to 256 bytes (getrandom(2)).
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return os_failure("getrandom");
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

Result<Cookie> Cookie::create(const std::string& socket) {
  const std::string path = os::cookie_path(socket);
  const std::size_t slash = path.rfind('/');
  Cookie cookie;
  cookie.name_ = path.substr(slash + 1);
  GUARD_ASSIGN(cookie.text_, random_hex());
  GUARD_ASSIGN(cookie.folder_, os::open_private_directory(path.substr(0, slash)));
  ::unlinkat(cookie.folder_.get(), cookie.name_.c_str(), 0);
  GUARD_ASSIGN(cookie.file_, os::open_at(cookie.folder_.get(), cookie.name_,
                                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  GUARD_TRY(os::write_all(cookie.file_.get(), cookie.text_));
  return cookie;
}

Cookie::~Cookie() {
  struct stat ours{}, named{};
  if (file_ && ::fstat(file_.get(), &ours) == 0 &&
      ::fstatat(folder_.get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
      ours.st_dev == named.st_dev && ours.st_ino == named.st_ino) {
    ::unlinkat(folder_.get(), name_.c_str(), 0);
  }
}

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char differences = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences = static_cast<unsigned char>(
        differences | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return differences == 0;
}

}  // namespace guard::daemon
