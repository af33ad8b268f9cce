// What guardctl itself says on stderr, each a line with its name in front.
//
// The lines share stderr with the program's: one that did not end its last line gets its newline
// first. Nothing here fails: there is nowhere to tell that stderr is closed.
#pragma once

#include <string>
#include <string_view>

#include "client/render/byte_sink.h"
#include "common/base/result.h"

namespace guard::client {

class Messages {
 public:
  Messages(ByteSink& err, std::string name, bool color)
      : err_(err), name_(std::move(name)), color_(color) {}

  void error(const Error& error);
  void error(std::string_view message, std::string_view hint);
  void warning(std::string_view text) { line("warning", text, "33"); }
  void note(std::string_view text) { line("note", text, "2"); }
  // Lines that have the prefix already.
  void lines(std::string_view text);

  // "[guardctl] "
  std::string prefix() const { return "[" + name_ + "] "; }

  // The program's own bytes.
  Result<> pass_on(std::string_view bytes);

 private:
  void line(std::string_view label, std::string_view text, std::string_view color);

  ByteSink& err_;
  const std::string name_;
  const bool color_;
  bool in_line_ = false;  // the last byte on stderr was not a newline
};

}  // namespace guard::client
