#include "common/run/executable_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "common/os/unique_fd.h"

namespace guard::run {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kOwnMachine = EM_AARCH64;
#endif

std::string resolved_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : std::string();
}

std::string read_at(int fd, std::uint64_t offset, std::size_t bytes) {
  std::string data(bytes, '\0');
  const ssize_t got = ::pread(fd, data.data(), bytes, static_cast<off_t>(offset));
  data.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return data;
}

// execve(2): the interpreter is the first word of the line; the kernel reads 255 bytes of it.
void read_script(std::string_view head, ExecutableFile& file) {
  head.remove_prefix(2);
  std::string_view line = head.substr(0, head.find('\n'));
  file.trailing_cr = line.ends_with('\r');
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) return;
  line.remove_prefix(start);
  file.interpreter = line.substr(0, line.find_first_of(" \t"));
}

// PT_INTERP of a 64-bit ELF file of this machine's byte order; anything odd is left out.
void read_elf(int fd, std::string_view head, ExecutableFile& file) {
  Elf64_Ehdr header{};
  if (head.size() < sizeof(header)) return;
  std::memcpy(&header, head.data(), sizeof(header));
  file.foreign = header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kOwnMachine;
  if (file.foreign || header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > 128) return;
  const std::string table =
      read_at(fd, header.e_phoff, std::size_t{header.e_phnum} * sizeof(Elf64_Phdr));
  for (std::size_t at = 0; at + sizeof(Elf64_Phdr) <= table.size(); at += sizeof(Elf64_Phdr)) {
    Elf64_Phdr entry{};
    std::memcpy(&entry, table.data() + at, sizeof(entry));
    if (entry.p_type != PT_INTERP || entry.p_filesz < 2 || entry.p_filesz > PATH_MAX) continue;
    const std::string name = read_at(fd, entry.p_offset, static_cast<std::size_t>(entry.p_filesz));
    file.interpreter = name.c_str();  // up to its NUL
    return;
  }
}

void look_inside(const std::string& path, ExecutableFile& file) {
  const os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    file.kind = FileKind::kUnreadable;
    return;
  }
  const std::string head = read_at(fd.get(), 0, 256);
  if (head.starts_with("#!")) {
    file.kind = FileKind::kScript;
    read_script(head, file);
  } else if (head.starts_with(ELFMAG)) {
    file.kind = FileKind::kElf;
    read_elf(fd.get(), head, file);
  } else {
    file.kind = FileKind::kOther;
  }
  if (!file.interpreter.empty()) {
    file.interpreter_exists = ::access(file.interpreter.c_str(), F_OK) == 0 || errno != ENOENT;
  }
}

void look_at_missing(const std::string& path, int error, ExecutableFile& file) {
  if (error == ENOTDIR) {
    file.kind = FileKind::kNotADirectory;
    return;
  }
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length <= 0) return;
  file.kind = FileKind::kDanglingSymlink;
  file.link_target.assign(target.data(), static_cast<std::size_t>(length));
}

}  // namespace

ExecutableFile examine(const std::string& path) {
  ExecutableFile file;
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    look_at_missing(path, errno, file);
    return file;
  }
  file.resolved = resolved_path(path);
  if (S_ISDIR(status.st_mode)) {
    file.kind = FileKind::kDirectory;
    return file;
  }
  if (!S_ISREG(status.st_mode)) {
    file.kind = FileKind::kSpecial;
    return file;
  }
  struct statvfs mount{};
  file.noexec_mount = ::statvfs(path.c_str(), &mount) == 0 && (mount.f_flag & ST_NOEXEC) != 0;
  // On a noexec mount access(2) says EACCES whatever the bits are.
  file.execute_bit = file.noexec_mount || ::access(path.c_str(), X_OK) == 0 || errno != EACCES;
  look_inside(path, file);
  return file;
}

}  // namespace guard::run
