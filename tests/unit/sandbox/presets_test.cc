#include "common/sandbox/presets.h"

#include <set>

#include <gtest/gtest.h>

#include "common/sandbox/path_text.h"

namespace guard::sandbox {
namespace {

bool base_opens(std::string_view path) {
  for (const BasePath& base : system_base()) {
    if (is_within(path, base.path)) return true;
  }
  return false;
}

TEST(SystemBase, OpensNothingOfTheUsersAndNoSecrets) {
  for (const char* path : {"/etc/shadow",
                           "/etc/sudoers",
                           "/etc/ssl/private/key.pem",
                           "/etc/ssh/ssh_host_rsa_key",
                           "/etc/machine-id",
                           "/root",
                           "/home/u",
                           "/tmp/x",
                           "/var/tmp/x",
                           "/run/user/0",
                           "/dev/shm/x",
                           "/dev/pts/0",
                           "/dev/sda",
                           "/dev/mem",
                           "/proc/1/environ",
                           "/proc/self/status",
                           "/proc/kcore",
                           "/proc/net/tcp",
                           "/sys/fs/cgroup/x",
                           "/sys/kernel/security"}) {
    EXPECT_FALSE(base_opens(path)) << path;
  }
}

TEST(SystemBase, OpensWhatProgramsStartWith) {
  for (const char* path : {"/usr/bin/python3", "/lib64/ld-linux-x86-64.so.2", "/etc/ld.so.cache",
                           "/etc/passwd", "/etc/resolv.conf", "/dev/null", "/proc/cpuinfo"}) {
    EXPECT_TRUE(base_opens(path)) << path;
  }
}

TEST(SystemBase, WritesToDeviceFilesAlone) {
  for (const BasePath& base : system_base()) {
    EXPECT_TRUE(base.access == Access::kRead || base.path.starts_with("/dev/")) << base.path;
  }
}

TEST(SystemBase, EveryEntryIsAbsoluteOnceAndHasAReason) {
  std::set<std::string_view> seen;
  for (const BasePath& base : system_base()) {
    EXPECT_TRUE(base.path.starts_with('/'));
    EXPECT_FALSE(base.path.ends_with('/'));
    EXPECT_FALSE(base.reason.empty()) << base.path;
    EXPECT_TRUE(seen.insert(base.path).second) << base.path;
  }
}

}  // namespace
}  // namespace guard::sandbox
