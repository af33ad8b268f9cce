#include "common/os/runtime_dir.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::os {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class RuntimeDir : public testing::Test {
 protected:
  RuntimeDir() {
    const char* base = std::getenv("TMPDIR");
    std::string name = std::string(base != nullptr ? base : "/var/tmp") + "/runtime-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    for (const char* variable :
         {"GUARDD_SOCKET", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}) {
      ::unsetenv(variable);
    }
    ::setenv("HOME", "/home/somebody", 1);
  }
  ~RuntimeDir() override { fs::remove_all(folder_); }
  static mode_t mode_of(const fs::path& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  fs::path folder_;
};

TEST_F(RuntimeDir, TheFlagWinsThenTheVariableThenTheRuntimeFolder) {
  ::setenv("XDG_RUNTIME_DIR", "/run/there/", 1);
  EXPECT_EQ(socket_path(""), "/run/there/guardd/guardd.sock");
  ::setenv("GUARDD_SOCKET", "/a/b.sock", 1);
  EXPECT_EQ(socket_path(""), "/a/b.sock");
  EXPECT_EQ(socket_path("/c/d.sock"), "/c/d.sock");
}

TEST_F(RuntimeDir, ARelativeRuntimeFolderIsIgnored) {
  ::setenv("XDG_RUNTIME_DIR", "run", 1);
  ASSERT_TRUE(socket_path(""));
  EXPECT_EQ(socket_path("")->front(), '/');
  EXPECT_THAT(*socket_path(""), Not(HasSubstr("/run/guardd/guardd.sock")));
}

TEST_F(RuntimeDir, RefusesASocketPathThatBindWouldCutShort) {
  EXPECT_TRUE(socket_path("/" + std::string(106, 'x')));
  const auto path = socket_path("/" + std::string(107, 'x'));
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, Errc::kInvalid);
  EXPECT_THAT(path.error().what, HasSubstr("at most 107"));
}

TEST_F(RuntimeDir, RefusesRelativeAndEmptySocketPaths) {
  EXPECT_EQ(socket_path("x.sock").error().what, "--socket 'x.sock' is not absolute");
  EXPECT_EQ(socket_path("/x/").error().what, "--socket '/x/' names a folder");
  ::setenv("GUARDD_SOCKET", "", 1);
  EXPECT_EQ(socket_path("").error().what, "GUARDD_SOCKET is empty");
}

TEST_F(RuntimeDir, ProtectsTheFoldersOfTheDaemonInTheHomeOfThePasswordFile) {
  const passwd* user = ::getpwuid(::geteuid());
  ASSERT_NE(user, nullptr);
  const std::string home = user->pw_dir;
  const auto folders = protected_folders("/run/x/guardd/guardd.sock");
  EXPECT_THAT(folders, Contains("/run/x/guardd"));
  EXPECT_THAT(folders, Contains(home + "/.config/guardd"));
  EXPECT_THAT(folders, Contains(home + "/.local/state/guardd"));
  EXPECT_THAT(folders, Contains("/var/tmp/guardd-" + std::to_string(::geteuid())));
  EXPECT_THAT(folders, Not(Contains(HasSubstr("/home/somebody/"))));  // $HOME
}

TEST_F(RuntimeDir, ProtectsTheFoldersThatXdgVariablesName) {
  ::setenv("XDG_CONFIG_HOME", "/somewhere/config", 1);
  const auto folders = protected_folders("/run/x/guardd/guardd.sock");
  ::unsetenv("XDG_CONFIG_HOME");
  EXPECT_THAT(folders, Contains("/somewhere/config/guardd"));
}

TEST_F(RuntimeDir, MakesAMissingFolderForUsAlone) {
  const fs::path wanted = folder_ / "guardd";
  ASSERT_TRUE(open_private_directory(wanted));
  EXPECT_EQ(mode_of(wanted), 0700u);
  EXPECT_TRUE(open_private_directory(wanted));
}

TEST_F(RuntimeDir, NeverChangesTheModeOfAFolderThatExists) {
  const fs::path open = folder_ / "open";
  fs::create_directory(open);
  ::chmod(open.c_str(), 0755);
  const auto opened = open_private_directory(open);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::kDenied);
  EXPECT_THAT(opened.error().what, HasSubstr("is open to others (mode 0755)"));
  EXPECT_EQ(opened.error().hint, "chmod 700 " + open.string());
  EXPECT_EQ(mode_of(open), 0755u);
}

TEST_F(RuntimeDir, FollowsNoSymbolicLinkAndTakesNoFile) {
  fs::create_directory(folder_ / "real");
  ::chmod((folder_ / "real").c_str(), 0700);
  fs::create_directory_symlink(folder_ / "real", folder_ / "link");
  EXPECT_EQ(open_private_directory(folder_ / "link").error().code, Errc::kDenied);
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(open_private_directory(folder_ / "fifo").error().code, Errc::kDenied);
}

TEST_F(RuntimeDir, RefusesSomebodyElses) {
  if (::geteuid() == 0) GTEST_SKIP() << "root owns /";
  EXPECT_THAT(open_private_directory("/").error().what, HasSubstr("belongs to uid 0"));
}

TEST_F(RuntimeDir, DoesNotMakeParents) {
  EXPECT_EQ(open_private_directory(folder_ / "a" / "b").error().code, Errc::kNotFound);
  ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  EXPECT_TRUE(open_private_directory(folder_ / "guardd" / "second"));
  EXPECT_EQ(mode_of(folder_ / "guardd"), 0700u);
}

}  // namespace
}  // namespace guard::os
