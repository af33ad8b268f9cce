#include "common/os/sys.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <gtest/gtest.h>

#include "common/os/clock.h"
#include "common/os/memfd.h"
#include "common/os/pidfd.h"
#include "common/os/pipe.h"
#include "common/os/proc_stat.h"

namespace guard::os {
namespace {

TEST(Open, NamesThePathAndWhy) {
  const auto fd = open("/nowhere/at all", O_RDONLY);
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, Errc::kNotFound);
  EXPECT_EQ(fd.error().message(), "open '/nowhere/at all': No such file or directory");
}

TEST(Open, IsCloseOnExec) {
  const auto fd = open("/dev/null", O_RDONLY);
  EXPECT_EQ(::fcntl(fd->get(), F_GETFD), FD_CLOEXEC);
}

TEST(Duplicate, IsNumberedAsAskedAndCloseOnExec) {
  const auto fd = open("/dev/null", O_RDONLY);
  const auto copy = *duplicate(fd->get(), 100);
  EXPECT_GE(copy.get(), 100);
  EXPECT_EQ(::fcntl(copy.get(), F_GETFD), FD_CLOEXEC);
}

TEST(ReadAll, RefusesMoreThanAsked) {
  auto pipe = *make_pipe();
  ASSERT_TRUE(write_all(pipe.write.get(), "12345"));
  pipe.write.reset();
  EXPECT_EQ(read_all(pipe.read.get(), 4).error().code, Errc::kInvalid);
}

TEST(ReadAll, TakesExactlyAsMuchAsAllowed) {
  auto pipe = *make_pipe();
  ASSERT_TRUE(write_all(pipe.write.get(), "1234"));
  pipe.write.reset();
  EXPECT_EQ(*read_all(pipe.read.get(), 4), "1234");
}

TEST(ReadLink, ReadsTargetsOfAnyLength) {
  char folder[] = "/var/tmp/guard-os-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string target(3000, 'x'), link = std::string(folder) + "/link";
  ASSERT_EQ(::symlink(target.c_str(), link.c_str()), 0);
  EXPECT_EQ(*read_link_at(AT_FDCWD, link), target);
  ::unlink(link.c_str());
  ::rmdir(folder);
}

TEST(Nonblocking, IsPutOnAndTakenOff) {
  const auto pipe = *make_pipe();
  char byte;
  ASSERT_TRUE(set_nonblocking(pipe.read.get()));
  EXPECT_EQ(read_some(pipe.read.get(), &byte, 1).error().os_errno, EAGAIN);
  ASSERT_TRUE(set_nonblocking(pipe.read.get(), false));
  EXPECT_EQ(::fcntl(pipe.read.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(SealedMemfd, ComesBackAsItWasAndCannotBeChanged) {
  const std::string bytes(100000, 'b');
  const auto fd = *sealed_memfd("test", bytes);
  EXPECT_EQ(*read_sealed_memfd(fd.get(), bytes.size()), bytes);
  EXPECT_LT(::pwrite(fd.get(), "x", 1, 0), 0);
  EXPECT_LT(::ftruncate(fd.get(), 1), 0);
}

TEST(SealedMemfd, RefusesWhatAWriterCouldStillChange) {
  const UniqueFd open_memfd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(read_sealed_memfd(open_memfd.get(), 10).error().what, "the memfd is not sealed");
  const auto pipe = *make_pipe();
  EXPECT_EQ(read_sealed_memfd(pipe.read.get(), 10).error().what, "not a memfd");
}

TEST(SealedMemfd, RefusesMoreThanAsked) {
  const auto fd = *sealed_memfd("test", "12345");
  EXPECT_EQ(read_sealed_memfd(fd.get(), 4).error().code, Errc::kInvalid);
}

TEST(Pidfd, OfThisProcessHasNotEnded) {
  const auto self = *pidfd_open(::getpid());
  EXPECT_FALSE(pidfd_ended(self.get()));
  EXPECT_TRUE(pidfd_signal(self.get(), 0));
}

TEST(Pidfd, OfNobodyIsAnError) { EXPECT_EQ(pidfd_open(0x3ffffffe).error().os_errno, ESRCH); }

TEST(PollTimeout, NeverEndsBeforeTheDeadline) {
  using namespace std::chrono_literals;
  EXPECT_EQ(poll_timeout(now() - 1s), 0);
  EXPECT_EQ(poll_timeout(now() + 500us), 1);
  EXPECT_EQ(poll_timeout(now() + std::chrono::years(5)), 24 * 3600 * 1000);
}

TEST(ProcStat, ReadsPastANameMadeToConfuse) {
  const auto stat = *parse_proc_stat(
      "42 (a) Z 1 (b)) S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 20 184467 1");
  EXPECT_EQ(stat, (ProcStat{.pid = 42,
                            .name = "a) Z 1 (b)",
                            .state = 'S',
                            .parent = 7,
                            .group = 8,
                            .session = 9,
                            .start_time = 123456}));
}

TEST(ProcStat, RefusesWhatIsCutShort) {
  const std::string line = "42 (sh) S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456";
  ASSERT_TRUE(parse_proc_stat(line));
  const std::size_t last_field = line.rfind(' ');
  for (std::size_t length = 0; length <= last_field; ++length)
    EXPECT_FALSE(parse_proc_stat(line.substr(0, length))) << length;
}

TEST(ProcStat, OfThisProcessNamesItsParent) {
  const auto stat = *proc_stat(::getpid());
  EXPECT_EQ(stat.pid, ::getpid());
  EXPECT_EQ(stat.parent, ::getppid());
  EXPECT_EQ(stat.session, ::getsid(0));
  EXPECT_GT(stat.start_time, 0u);
}

TEST(ProcStat, OfNobodyIsNotFound) {
  EXPECT_EQ(proc_stat(0x3ffffffe).error().code, Errc::kNotFound);
}

TEST(PinnedStat, FollowsItsProcessToTheEndAndNeverAnother) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto pinned = PinnedStat::open(child);
  ASSERT_TRUE(pinned);
  EXPECT_EQ(pinned->read()->parent, ::getpid());
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(pinned->read()->state, 'Z');
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(pinned->read().error().code, Errc::kNotFound);
}

TEST(PinnedStat, OfNobodyIsNotFound) {
  EXPECT_EQ(PinnedStat::open(0x3ffffffe).error().code, Errc::kNotFound);
}

TEST(AllProcesses, HoldsThisOne) {
  const auto processes = *all_processes();
  EXPECT_NE(std::find(processes.begin(), processes.end(), *proc_stat(::getpid())), processes.end());
}

}  // namespace
}  // namespace guard::os
