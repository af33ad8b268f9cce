#include "common/os/scratch_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/remove_tree.h"

namespace guard::os {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ScratchDir : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "scratch-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override {
    const UniqueFd parent(::open(fs::temp_directory_path().c_str(), O_PATH | O_DIRECTORY));
    EXPECT_TRUE(remove_tree(parent.get(), base_.filename()));
    EXPECT_FALSE(fs::exists(base_));
  }
  ScratchRoot root() {
    auto opened = ScratchRoot::open(base_);
    EXPECT_TRUE(opened) << opened.error().message();
    return *std::move(opened);
  }
  fs::path top() const { return base_ / ("guardd-" + std::to_string(::geteuid())); }

  fs::path base_;
};

mode_t mode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST_F(ScratchDir, RunFoldersAreUsableAndPrivateWhateverTheUmask) {
  const ScratchRoot scratch = root();
  const mode_t before = ::umask(0777);
  const auto run = scratch.make_run("a", ::getpid());
  ::umask(before);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(mode_of(run->home), 0700u);
  EXPECT_EQ(mode_of(run->tmp), 0700u);
}

TEST_F(ScratchDir, AFolderThatIsOpenToOthersIsRefusedAndItsModeLeftAlone) {
  fs::create_directory(top());
  ::chmod(top().c_str(), 0755);
  const auto opened = ScratchRoot::open(base_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::kDenied);
  EXPECT_EQ(mode_of(top()), 0755u);
}

TEST_F(ScratchDir, ASymlinkInItsPlaceIsNotFollowed) {
  fs::create_directory(base_ / "elsewhere");
  fs::create_symlink("elsewhere", top());
  const auto opened = ScratchRoot::open(base_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().hint, HasSubstr("removed"));
  EXPECT_TRUE(fs::is_empty(base_ / "elsewhere"));
}

TEST_F(ScratchDir, TheCanaryIsMadeOnceAndCanBeOpened) {
  const ScratchRoot scratch = root();
  ASSERT_TRUE(scratch.ensure_canary());
  EXPECT_EQ(fs::file_size(top() / ScratchRoot::kCanaryName), 7u);
  EXPECT_EQ(mode_of(top() / ScratchRoot::kCanaryName), 0600u);
  EXPECT_TRUE(scratch.ensure_canary());
}

TEST_F(ScratchDir, AnIdIsUsedOnceAndIsAName) {
  const ScratchRoot scratch = root();
  ASSERT_TRUE(scratch.make_run("a", ::getpid()));
  EXPECT_EQ(scratch.make_run("a", ::getpid()).error().code, Errc::kExists);
  for (const char* id : {"", "a/b", "../x", "a b"}) {
    EXPECT_EQ(scratch.make_run(id, ::getpid()).error().code, Errc::kInvalid) << id;
  }
}

TEST_F(ScratchDir, RemovesWhateverARunLeftAndNothingElse) {
  const ScratchRoot scratch = root();
  const auto run = *scratch.make_run("a", ::getpid());
  fs::create_directory(base_ / "outside");
  std::ofstream(base_ / "outside/keep") << "x";
  fs::create_symlink(base_ / "outside", fs::path(run.home) / "link");
  fs::create_directories(fs::path(run.home) / ".npm/deep");
  std::ofstream(fs::path(run.tmp) / "file") << "x";
  ASSERT_EQ(::mkfifo((fs::path(run.tmp) / "fifo").c_str(), 0600), 0);
  fs::create_directories(fs::path(run.tmp) / "locked/below");
  ::chmod((fs::path(run.tmp) / "locked").c_str(), 0);
  const auto held = scratch.remove_run(run.name);
  ASSERT_TRUE(held) << held.error().message();
  EXPECT_THAT(*held, ElementsAre("home/.npm", "home/link", "tmp/fifo", "tmp/file", "tmp/locked"));
  EXPECT_FALSE(fs::exists(top() / run.name));
  EXPECT_TRUE(fs::exists(base_ / "outside/keep"));
}

TEST_F(ScratchDir, RemovesATreeDeeperThanPathsMayBeLong) {
  const ScratchRoot scratch = root();
  const auto run = *scratch.make_run("a", ::getpid());
  UniqueFd at(::open(run.tmp.c_str(), O_RDONLY | O_DIRECTORY));
  const std::string name(250, 'd');
  for (int depth = 0; depth < 30; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at = UniqueFd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY));
    ASSERT_TRUE(at);
  }
  EXPECT_TRUE(scratch.remove_run(run.name));
  EXPECT_FALSE(fs::exists(top() / run.name));
}

TEST_F(ScratchDir, TheListOfWhatWasHeldIsBounded) {
  const ScratchRoot scratch = root();
  const auto run = *scratch.make_run("a", ::getpid());
  for (int i = 0; i < 9; ++i) std::ofstream(fs::path(run.tmp) / std::to_string(i)) << "x";
  EXPECT_EQ(scratch.remove_run(run.name, 4)->size(), 4u);
}

TEST_F(ScratchDir, RemovesRunFoldersOnly) {
  const ScratchRoot scratch = root();
  for (const char* name : {"canary", "run-../x", "..", ""}) {
    EXPECT_FALSE(scratch.remove_run(name)) << name;
  }
}

TEST_F(ScratchDir, LeftoversGoWhenTheirOwnerIsGone) {
  const ScratchRoot scratch = root();
  const auto mine = *scratch.make_run("mine", ::getpid());
  const auto reused = *scratch.make_run("reused", ::getpid());
  std::ofstream(top() / reused.name / "owner") << ::getpid() << " 1\n";
  const auto dead = *scratch.make_run("dead", ::getpid());
  std::ofstream(top() / dead.name / "owner") << "4194304 77\n";  // above pid_max
  scratch.remove_stale(3600);
  EXPECT_TRUE(fs::exists(top() / dead.name)) << "too young";
  scratch.remove_stale(0, 1);
  EXPECT_NE(fs::exists(top() / dead.name), fs::exists(top() / reused.name)) << "one at a time";
  scratch.remove_stale(0);
  EXPECT_FALSE(fs::exists(top() / dead.name));
  EXPECT_FALSE(fs::exists(top() / reused.name));
  EXPECT_TRUE(fs::exists(top() / mine.name));
}

}  // namespace
}  // namespace guard::os
