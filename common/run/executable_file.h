// What kind of file was to be executed, as far as one can see: the difference between "no such
// program" and "its interpreter is not there".
#pragma once

#include <cstdint>
#include <string>

namespace guard::run {

enum class FileKind : std::uint8_t {
  kMissing,          // nothing there, or a folder on the way cannot be searched
  kDanglingSymlink,  // a symbolic link to nothing
  kNotADirectory,    // a folder on the way is a file
  kDirectory,
  kSpecial,  // FIFO, device, socket
  kScript,   // starts with #!
  kElf,
  kOther,       // a regular file that is neither
  kUnreadable,  // a regular file that could not be looked into
};

struct ExecutableFile {
  FileKind kind = FileKind::kMissing;
  std::string resolved;     // symbolic links followed; empty when that failed
  std::string link_target;  // for kDanglingSymlink, as the link says
  // The word after #!, or an ELF file's PT_INTERP (its loader); empty for a static program.
  std::string interpreter;
  bool interpreter_exists = true;
  bool foreign = false;      // ELF for another machine
  bool execute_bit = false;  // for the caller, by access(2)
  bool noexec_mount = false;
  bool trailing_cr = false;  // "#!/bin/sh\r\n": a script with the line ends of DOS
};

// Looks at `path`; opens it only when it is a regular file, never blocks. What cannot be seen (a
// sandbox is on already) is left at its default.
ExecutableFile examine(const std::string& path);

}  // namespace guard::run
