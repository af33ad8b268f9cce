#include "client/rpc/autostart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::client {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST(GuarddCandidates, AreBesideGuardctlAndNeverInPath) {
  EXPECT_THAT(guardd_candidates("/opt/guard/bin/guardctl"),
              ElementsAre("/opt/guard/bin/guardd", "/opt/guard/bin/../libexec/guardd/guardd",
                          "/opt/guard/bin/../sbin/guardd"));
  EXPECT_EQ(guardd_candidates("/guardctl")[0], "//guardd");
}

TEST(DaemonEnvironment, IsAShortListWithoutWhatChangesPrograms) {
  EXPECT_THAT(
      daemon_environment({"HOME=/h", "LD_PRELOAD=/x.so", "LD_LIBRARY_PATH=/x", "API_KEY=secret",
                          "XDG_RUNTIME_DIR=/r", "PATH=/bin", "BASH_ENV=/x", "GUARDD_SOCKET=/s",
                          "LISTEN_FDS=1", "NOTIFY_SOCKET=/n", "GUARD_LANDLOCK_ABI_MAX=3",
                          "HOMEBREW=1", "GCONV_PATH=/x", "garbage"}),
      UnorderedElementsAre("HOME=/h", "XDG_RUNTIME_DIR=/r", "PATH=/bin", "GUARDD_SOCKET=/s",
                           "GUARD_LANDLOCK_ABI_MAX=3"));
}

}  // namespace
}  // namespace guard::client
