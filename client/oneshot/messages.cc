#include "client/oneshot/messages.h"

#include <unistd.h>

#include <string>

#include "common/os/sys.h"

namespace guard::client {
namespace {

std::string line(std::string_view label, std::string_view text) {
  return std::string(kPrefix).append(label).append(": ").append(text).append("\n");
}

}  // namespace

bool write_text(int fd, std::string_view text) { return os::write_all(fd, text).has_value(); }

void say_error(std::string_view message, std::string_view hint) {
  std::string text = line("error", message);
  if (!hint.empty()) text += line("hint", hint);
  // Nowhere to tell that stderr is closed; the exit code says the rest.
  (void)write_text(STDERR_FILENO, text);
}

void say_note(std::string_view note) { (void)write_text(STDERR_FILENO, line("note", note)); }

}  // namespace guard::client
