#include "common/sandbox/seccomp/filter.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/os/unique_fd.h"
#include "common/sandbox/seccomp/front.h"
#include "common/sandbox/seccomp/syscall_numbers.h"
#include "common/sandbox/seccomp/syscall_sets.h"

namespace guard::seccomp {
namespace {

// libseccomp returns a negative errno.
Result<> accepted(int status, std::string_view what) {
  if (status >= 0) return {};
  return std::unexpected(Error{Errc::kInternal, fmt::format("libseccomp: {}", what), -status, {}});
}

std::uint32_t libseccomp_arch(Arch arch) {
  return arch == Arch::kX86_64 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64;
}

Result<> set_up(scmp_filter_ctx context, Arch arch) {
  if (arch != kHostArch) {
    GUARD_TRY(accepted(seccomp_arch_add(context, libseccomp_arch(arch)), "add architecture"));
    GUARD_TRY(accepted(seccomp_arch_remove(context, SCMP_ARCH_NATIVE), "remove architecture"));
  }
  GUARD_TRY(accepted(seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
                     "set the action for other architectures"));
  constexpr std::uint32_t kBinaryTree = 2;
  return accepted(seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, kBinaryTree), "optimize");
}

// The number by which libseccomp takes a call: the host's, or a stand-in for one that the host
// lacks. It translates by name for another architecture, hence only there its names are asked for.
int number_for(std::string_view name, Arch arch) {
  if (arch == kHostArch) return *number_of(name, arch);
  return seccomp_syscall_resolve_name(std::string(name).c_str());
}

Result<> add(scmp_filter_ctx context, Arch arch, const Rule& rule) {
  const int number = number_for(rule.syscall, arch);
  if (number == __NR_SCMP_ERROR) {
    return failure(Errc::kInternal, fmt::format("libseccomp does not know {}", rule.syscall));
  }
  const std::uint32_t action = SCMP_ACT_ERRNO(static_cast<std::uint32_t>(rule.error));
  return accepted(seccomp_rule_add_array(context, action, number, 0, nullptr),
                  fmt::format("add a rule for {}", rule.syscall));
}

Result<Program> exported(scmp_filter_ctx context) {
  const os::UniqueFd file(::memfd_create("filter", MFD_CLOEXEC));
  if (!file) return os_failure("memfd_create");
  GUARD_TRY(accepted(seccomp_export_bpf(context, file.get()), "export the filter"));
  const off_t bytes = ::lseek(file.get(), 0, SEEK_END);
  if (bytes < 0) return os_failure("lseek in the exported filter");
  Program program(static_cast<std::size_t>(bytes) / sizeof(sock_filter));
  const ssize_t got = ::pread(file.get(), program.data(), program.size() * sizeof(sock_filter), 0);
  if (got < 0) return os_failure("read the exported filter");
  if (got != bytes) return failure(Errc::kInternal, "the exported filter is cut short");
  return program;
}

Result<Program> back(Arch arch, std::span<const Rule> rules) {
  // libseccomp keeps what it found out about the kernel in variables without a lock.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> context(seccomp_init(SCMP_ACT_ALLOW),
                                                                 seccomp_release);
  if (!context) return failure(Errc::kInternal, "libseccomp: cannot start a filter");
  GUARD_TRY(set_up(context.get(), arch));
  for (const Rule& rule : rules) GUARD_TRY(add(context.get(), arch, rule));
  return exported(context.get());
}

}  // namespace

Result<Program> build_filter(const FilterSpec& spec) {
  std::vector<Rule> for_front;
  std::vector<Rule> for_back;
  for (Rule& rule : rules(spec)) {
    (belongs_in_front(rule, spec.arch) ? for_front : for_back).push_back(std::move(rule));
  }
  GUARD_ASSIGN(const Program first, front(spec.arch, for_front));
  GUARD_ASSIGN(const Program second, back(spec.arch, for_back));
  return concatenate(first, second);
}

}  // namespace guard::seccomp
