#include "client/render/messages.h"

#include "common/base/visible.h"

namespace guard::client {

void Messages::error(const Error& error) { this->error(error.message(), error.hint); }

void Messages::error(std::string_view message, std::string_view hint) {
  line("error", message, "31");
  if (!hint.empty()) line("hint", hint, "36");
}

void Messages::lines(std::string_view text) {
  std::string out;
  if (in_line_) out += '\n';
  out += text;
  in_line_ = false;
  (void)err_.write(out);  // nowhere to tell
}

Result<> Messages::pass_on(std::string_view bytes) {
  if (!bytes.empty()) in_line_ = bytes.back() != '\n';
  return err_.write(bytes);
}

void Messages::line(std::string_view label, std::string_view text, std::string_view color) {
  std::string shown(label);
  if (color_) shown = "\x1b[" + std::string(color) + "m" + shown + "\x1b[0m";
  lines(prefix() + shown + ": " + visible(text) + "\n");
}

}  // namespace guard::client
