// A secret that every call must carry where the kernel cannot pin a caller (SO_PEERPIDFD, Linux
// 6.5): there a run's process could connect, end, and hope that its number goes to a stranger.
//
//   DIR/guardd.cookie   0600; 64 hexadecimal digits; fresh for each start, removed at the end
//
// A run cannot read it: no grant covers DIR. A client sends it as the metadata kCookieKey.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::daemon {

class Cookie {
 public:
  // Makes the file that os::cookie_path(socket) names, in the place of what an earlier guardd left.
  static Result<Cookie> create(const std::string& socket);

  Cookie(Cookie&&) noexcept = default;
  Cookie& operator=(Cookie&&) = delete;
  // Removes the file if it is still the one that we made.
  ~Cookie();

  const std::string& text() const { return text_; }

 private:
  Cookie() = default;
  std::string text_, name_;
  os::UniqueFd folder_, file_;
};

// Takes as long for every guess of the right length.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace guard::daemon
