#include "common/sandbox/levels.h"

namespace guard::sandbox {
namespace {

bool required(Level level, Protection protection) {
  switch (level) {
    case Level::kUnsafeNoGuard:
      return false;
    case Level::kStrict:
      return true;
    case Level::kDefault:
      if (protection == Protection::kNetwork || protection == Protection::kUnixSockets ||
          protection == Protection::kDescriptors) {
        return true;
      }
      [[fallthrough]];
    case Level::kBestEffort:
      return protection == Protection::kNoNewPrivs || protection == Protection::kFileAccess ||
             protection == Protection::kSyscallFilter;
  }
  return true;
}

bool holds(const ProtectionLine& line) {
  return line.status == Status::kEnforced || line.status == Status::kNotAsked;
}

std::string advice(Level level, const std::vector<ProtectionLine>& lacking,
                   const KernelSupport& kernel) {
  if (kernel.landlock_abi < 1 || !kernel.seccomp_filter) {
    return "only --unsafe-no-guard runs here, without any sandbox";
  }
  if (level == Level::kStrict) return "leave out --strict to accept what this kernel can do";
  for (const ProtectionLine& line : lacking) {
    if (line.protection == Protection::kNetwork) {
      return "leave out the port grants, or accept any port with --best-effort";
    }
  }
  return "--best-effort accepts what this kernel can do";
}

}  // namespace

Result<> sufficient(Level level, const std::vector<ProtectionLine>& protections,
                    const KernelSupport& kernel) {
  std::vector<ProtectionLine> lacking;
  for (const ProtectionLine& line : protections) {
    if (required(level, line.protection) && !holds(line)) lacking.push_back(line);
  }
  if (lacking.empty()) return {};
  std::string what = "this kernel (" + kernel.release + ") cannot enforce";
  const char* separator = " ";
  for (const ProtectionLine& line : lacking) {
    what += separator + std::string(name_of(line.protection)) + " (" + line.why + ")";
    separator = ", ";
  }
  return failure(Errc::kUnsupported, std::move(what), advice(level, lacking, kernel));
}

}  // namespace guard::sandbox
