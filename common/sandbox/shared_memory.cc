#include "common/sandbox/shared_memory.h"

#include <unistd.h>

#include <climits>
#include <string_view>

namespace guard::sandbox {
namespace {

constexpr std::string_view kFile = "libguard-shm.so";

std::string own_folder() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return {};
  const std::string_view file(path, static_cast<std::size_t>(length));
  const std::size_t slash = file.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(file.substr(0, slash));
}

// ld.so takes blanks and colons in LD_PRELOAD as separators.
bool can_be_preloaded(const std::string& path) {
  return path.find_first_of(" :\t\n") == std::string::npos && ::access(path.c_str(), R_OK) == 0;
}

}  // namespace

std::string find_shared_memory_shim() { return find_shared_memory_shim(own_folder()); }

std::string find_shared_memory_shim(const std::string& folder) {
  if (folder.empty()) return {};
  for (const std::string_view place : {"/", "/../lib/guardd/"}) {
    std::string path = folder + std::string(place) + std::string(kFile);
    if (can_be_preloaded(path)) return path;
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> shared_memory_variables(
    const std::string& shim, const std::string& folder) {
  if (shim.empty() || folder.empty()) return {};
  return {{"LD_PRELOAD", shim}, {"GUARD_SHM_DIR", folder}};
}

PathGrant shared_memory_grant(const std::string& shim) {
  return {.path = shim, .access = Access::kRead, .optional = true, .origin = Origin::kBase};
}

}  // namespace guard::sandbox
