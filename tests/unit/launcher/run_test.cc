// What a program is given and what guardd hears of it, seen through the real launcher.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/clock.h"
#include "common/os/pipe.h"
#include "common/os/sys.h"
#include "tests/unit/launcher/driven_launcher.h"

namespace guard::launcher {
namespace {

using supervise::EndCause;
using supervise::LaunchFd;
using supervise::LaunchFds;
using namespace std::chrono_literals;

TEST(Run, ReportsItsStartThenItsEndWithOutputBetween) {
  DrivenLauncher launcher;
  auto run = launcher.start(shell("echo hello; exit 7"));
  EXPECT_EQ(run.output(), "hello\n");
  const auto events = run.finish();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::kStarted);
  EXPECT_GT(events[0].pid, 0);
  EXPECT_EQ(events[1].kind, EventKind::kFinished);
  EXPECT_EQ(events[1].cause, EndCause::kOwn);
  ASSERT_TRUE(WIFEXITED(events[1].wait_status));
  EXPECT_EQ(WEXITSTATUS(events[1].wait_status), 7);
  EXPECT_EQ(events[1].killed, 0u);
  EXPECT_EQ(events[1].stragglers, 0u);
  EXPECT_GT(events[1].max_rss_bytes, 0u);
}

}  // namespace
}  // namespace guard::launcher
