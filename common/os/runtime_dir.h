// Where guardd's socket, configuration and state live; every client computes the same.
//
//   socket   $GUARDD_SOCKET (or --socket), else $XDG_RUNTIME_DIR/guardd/guardd.sock, else
//            /run/user/UID/guardd/guardd.sock when /run/user/UID is ours, else
//            /var/tmp/guardd-UID/guardd.sock
//   config   $XDG_CONFIG_HOME/guardd, else ~/.config/guardd
//   state    $XDG_STATE_HOME/guardd, else ~/.local/state/guardd
//   scratch  /var/tmp/guardd-UID (private HOME and TMPDIR of runs; scratch_dir.h)
//
// ~ is the home of our uid in /etc/passwd, and $HOME only when the uid is not listed there: $HOME
// is often a folder inside a workspace, and a run that may write there must not reach a
// configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"

namespace guard::os {

// Which of the places above it is.
enum class SocketSource : std::uint8_t { kFlag, kVariable, kXdgRuntimeDir, kRunUser, kScratch };

struct SocketChoice {
  std::string path;  // absolute
  SocketSource source = SocketSource::kScratch;
  friend bool operator==(const SocketChoice&, const SocketChoice&) = default;
};

// kInvalid when `flag` or $GUARDD_SOCKET is relative, empty, or longer than sun_path takes (107
// bytes). `flag` empty: not given.
Result<SocketChoice> choose_socket(const std::string& flag);
Result<std::string> socket_path(const std::string& flag);  // its path

// /var/tmp/guardd-UID
std::string scratch_folder();

// The secret that calls carry where the kernel cannot pin a caller: DIR/guardd.cookie beside
// DIR/guardd.sock, kCookieDigits hexadecimal digits, sent as the metadata kCookieKey.
std::string cookie_path(const std::string& socket);
inline constexpr std::size_t kCookieDigits = 64;
inline constexpr const char* kCookieKey = "guardd-cookie";

// "DIR/x.sock" as "DIR/x" + ending; a name without that ending gets `ending` appended.
std::string beside_socket(std::string socket, std::string_view ending);

// Folders that no grant may cover: runtime (of the socket in use), config, state, scratch.
// Absolute; they need not exist. Symlinks are not resolved here.
std::vector<std::string> protected_folders(const std::string& socket);

// Opens `directory` O_PATH|O_DIRECTORY|O_NOFOLLOW and proves that it is ours and nobody else may
// enter it (mode & 077 == 0); makes it 0700 when it is missing (parents are not made, except the
// one between $XDG_RUNTIME_DIR and us). Never changes the mode of a directory that exists: kDenied
// then, with what is wrong and the command that mends it.
Result<UniqueFd> open_private_directory(const std::string& directory);

// The same, and makes nothing: os_errno is ENOENT when it is missing.
Result<UniqueFd> open_existing_private_directory(const std::string& directory);

// Whether open_private_directory() would make `directory`, which is missing: the error is that of
// the folder that it would be made in. By access(2), so an advice and no proof.
Result<> may_be_made(const std::string& directory);

}  // namespace guard::os
