#include "common/sandbox/grants.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sandbox/grant_warning.h"
#include "tests/unit/sandbox/temporary_folder.h"

namespace guard::sandbox {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Policy granting(std::vector<PathGrant> paths) {
  Policy policy;
  policy.default_grants = false;
  policy.paths = std::move(paths);
  return policy;
}

Error refusal(const Policy& policy, const Protected& folders = {}) {
  const auto resolved = resolve(policy, folders);
  EXPECT_FALSE(resolved);
  return resolved ? Error{} : resolved.error();
}

std::vector<std::string> paths_of(const ResolvedPolicy& policy) {
  std::vector<std::string> paths;
  for (const ResolvedGrant& grant : policy.grants) {
    paths.push_back(grant.resolved + (grant.list_only ? " (list)" : ""));
  }
  return paths;
}

TEST(Grants, TypeAndPlaceComeFromTheOpenedInode) {
  const TemporaryFolder folder;
  const std::string file = folder.make_file("f");
  ASSERT_EQ(::mkfifo((folder / "p").c_str(), 0600), 0);
  std::filesystem::create_symlink("f", folder / "l");
  const auto resolved = resolve(
      granting({{folder.path()}, {file}, {folder / "p"}, {folder / "l"}, {"/dev/null"}}), {});
  ASSERT_TRUE(resolved) << resolved.error().message();
  const auto& grants = resolved->grants;
  ASSERT_EQ(grants.size(), 5u);
  EXPECT_EQ(grants[0].kind, InodeKind::kDirectory);
  EXPECT_EQ(grants[1].kind, InodeKind::kRegular);
  EXPECT_EQ(grants[2].kind, InodeKind::kFifo);
  EXPECT_EQ(grants[3].resolved, file);
  EXPECT_EQ(grants[3].inode, grants[1].inode);
  EXPECT_EQ(grants[4].kind, InodeKind::kCharDevice);
}

TEST(Grants, AnUnreadableFileNeedsNoPermissionToBeGranted) {
  const TemporaryFolder folder;
  const std::string file = folder.make_file("f");
  ASSERT_EQ(::chmod(file.c_str(), 0), 0);
  EXPECT_TRUE(resolve(granting({{file}}), {}));
}

TEST(Grants, ASingleWritableFileSaysWhatItIsNotEnoughFor) {
  const TemporaryFolder folder;
  const std::string file = folder.make_file("f");
  const auto resolved =
      resolve(granting({{file, Access::kWrite}, {file}, {"/dev/null", Access::kWrite}}), {});
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->grants[0].warning,
            "a single file: programs that write beside it (sed -i, editors, SQLite) need its "
            "folder: --allow-write " +
                folder.path());
  EXPECT_THAT(resolved->grants[1].warning, IsEmpty());
  EXPECT_THAT(resolved->grants[2].warning, IsEmpty());
}

TEST(Grants, NamesOfAnyBytesWork) {
  const TemporaryFolder folder;
  for (const std::string name : {"a b", "a,b", "a\nb", "\xff\xfe", "-x", "?x"}) {
    folder.make_folder(name);
    const auto resolved = resolve(granting({{folder / name}}), {});
    ASSERT_TRUE(resolved) << resolved.error().message();
    EXPECT_EQ(resolved->grants[0].resolved, folder / name);
  }
}

TEST(Grants, DotDotIsResolvedByTheKernelThroughSymlinks) {
  const TemporaryFolder folder;
  folder.make_folder("a/b");
  std::filesystem::create_symlink("a/b", folder / "l");
  const auto resolved = resolve(granting({{folder / "l/.."}}), {});
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->grants[0].resolved, folder / "a");
}

TEST(Grants, AMissingPathIsAnErrorThatNamesItAndWhatToDo) {
  const TemporaryFolder folder;
  const Error error = refusal(granting({{folder / "gone", Access::kWrite}}));
  EXPECT_EQ(error.code, Errc::kNotFound);
  EXPECT_EQ(error.what, "allow_write '" + folder / "gone" + "' does not exist");
  EXPECT_THAT(error.hint, HasSubstr("mkdir -p " + folder / "gone"));
  EXPECT_THAT(error.hint, HasSubstr("grant its parent " + folder.path()));
}

TEST(Grants, OneMissingPathBesideGoodOnesIsStillAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal(granting({{folder.path()}, {folder / "gone"}, {"/usr"}})).code,
            Errc::kNotFound);
}

TEST(Grants, AMissingOptionalPathIsSkippedAndShown) {
  const TemporaryFolder folder;
  const auto resolved = resolve(granting({{folder / "gone", Access::kRead, true}}), {});
  ASSERT_TRUE(resolved);
  EXPECT_TRUE(resolved->grants.at(0).skipped);
  EXPECT_EQ(resolved->grants[0].fd, nullptr);
}

TEST(Grants, ASocketIsRefusedSinceNoGrantOpensIt) {
  const TemporaryFolder folder;
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder / "s").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const Error error = refusal(granting({{folder / "s"}}));
  ::close(fd);
  EXPECT_EQ(error.code, Errc::kInvalid);
  EXPECT_THAT(error.what, HasSubstr("socket"));
}

TEST(Grants, MessagesShowControlCharactersEscaped) {
  const Error error = refusal(granting({{"/no/\x1b[2J"}}));
  EXPECT_THAT(error.what, Not(HasSubstr("\x1b")));
  EXPECT_THAT(error.hint, Not(HasSubstr("\x1b")));
}

TEST(Grants, TheBaseIsAppendedAndNeverAnError) {
  Policy policy;
  const auto resolved = resolve(policy, {});
  ASSERT_TRUE(resolved);
  ASSERT_FALSE(resolved->grants.empty());
  for (const ResolvedGrant& grant : resolved->grants) {
    EXPECT_EQ(grant.grant.origin, Origin::kBase);
  }
}

TEST(GrantsAroundGuardd, AWriteGrantOverItsFoldersIsRefusedWhetherTheyExistOrNot) {
  const TemporaryFolder folder;
  folder.make_folder("home/.config/guardd");
  for (const char* own : {"home/.config/guardd", "home/.local/state/guardd"}) {
    const Error error = refusal(granting({{folder / "home", Access::kWrite}}), {{folder / own}});
    EXPECT_EQ(error.code, Errc::kInvalid);
    EXPECT_THAT(error.what, HasSubstr("guardd's own folder '" + folder / own + "'"));
    EXPECT_THAT(error.hint, HasSubstr("one by one"));
  }
  EXPECT_EQ(refusal(granting({{folder / "home/.config/guardd", Access::kWrite}}),
                    {{folder / "home/.config/guardd"}})
                .code,
            Errc::kInvalid);
}

TEST(GrantsAroundGuardd, WhoMayReplaceALinkOnTheWayReachesThemToo) {
  const TemporaryFolder folder;
  folder.make_folder("dotfiles/config/guardd");
  folder.make_folder("home/work");
  std::filesystem::create_symlink("../dotfiles/config", folder / "home/.config");
  const Protected own{{folder / "home/.config/guardd"}};
  const Error error = refusal(granting({{folder / "home", Access::kWrite}}), own);
  EXPECT_EQ(error.code, Errc::kInvalid);
  EXPECT_THAT(error.what, HasSubstr("guardd's own folder '" + folder / "home/.config" + "'"));
  EXPECT_EQ(refusal(granting({{folder / "dotfiles", Access::kWrite}}), own).code, Errc::kInvalid);
  EXPECT_TRUE(resolve(granting({{folder / "home/work", Access::kWrite}}), own));
}

TEST(GrantsAroundGuardd, AGrantInsideIsRefusedEvenThroughASymlink) {
  const TemporaryFolder folder;
  folder.make_folder("own/in");
  std::filesystem::create_symlink("own/in", folder / "l");
  for (const char* path : {"own/in", "l"}) {
    const Error error = refusal(granting({{folder / path}}), {{folder / "own"}});
    EXPECT_THAT(error.what, HasSubstr("guardd's own folder"));
  }
}

TEST(GrantsAroundGuardd, OurOwnSymlinkedFolderIsProtectedWhereItReallyIs) {
  const TemporaryFolder folder;
  folder.make_folder("real/own");
  std::filesystem::create_symlink("real", folder / "l");
  EXPECT_EQ(refusal(granting({{folder / "real", Access::kWrite}}), {{folder / "l/own"}}).code,
            Errc::kInvalid);
}

TEST(GrantsAroundGuardd, WhereALinkToNothingLeadsIsProtectedBeforeAnythingIsThere) {
  const TemporaryFolder folder;
  folder.make_folder("home/.config");
  folder.make_folder("dotfiles");
  std::filesystem::create_symlink("../../dotfiles/guardd", folder / "home/.config/guardd");
  EXPECT_EQ(
      refusal(granting({{folder / "dotfiles", Access::kWrite}}), {{folder / "home/.config/guardd"}})
          .code,
      Errc::kInvalid);
}

TEST(GrantsAroundGuardd, AReadGrantIsTakenApart) {
  const TemporaryFolder folder;
  folder.make_folder("home/.config/guardd");
  folder.make_folder("home/.config/other");
  folder.make_folder("home/work");
  folder.make_file("home/notes");
  std::filesystem::create_symlink(".config/guardd", folder / "home/way-in");
  const auto resolved =
      resolve(granting({{folder / "home"}}), {{folder / "home/.config/guardd", "/elsewhere"}});
  ASSERT_TRUE(resolved) << resolved.error().message();
  const auto paths = paths_of(*resolved);
  EXPECT_THAT(paths, ::testing::UnorderedElementsAre(folder / "home" + " (list)",
                                                     folder / "home/.config" + " (list)",
                                                     folder / "home/.config/other",
                                                     folder / "home/work", folder / "home/notes"));
  EXPECT_EQ(paths[0], folder / "home" + " (list)");
  EXPECT_THAT(resolved->grants[0].warning, HasSubstr(folder / "home/.config/guardd"));
}

TEST(GrantsAroundGuardd, AFolderThatDoesNotExistYetIsLeftOutToo) {
  const TemporaryFolder folder;
  folder.make_folder("home/.local/share");
  const auto resolved =
      resolve(granting({{folder / "home"}}), {{folder / "home/.local/state/guardd"}});
  ASSERT_TRUE(resolved);
  EXPECT_THAT(paths_of(*resolved),
              ElementsAre(folder / "home" + " (list)", folder / "home/.local" + " (list)",
                          folder / "home/.local/share"));
}

TEST(GrantsAroundGuardd, TheRunsOwnFoldersInsideAreGranted) {
  const TemporaryFolder folder;
  const std::string home = folder.make_folder("own/run-1/home");
  const auto resolved =
      resolve(granting({{home, Access::kWrite, false, Origin::kPrivate}}), {{folder / "own"}});
  ASSERT_TRUE(resolved);
  EXPECT_THAT(paths_of(*resolved), ElementsAre(home));
}

TEST(GrantsAroundGuardd, AWorkingDirectoryInsideIsSkippedWithAWord) {
  const TemporaryFolder folder;
  const std::string inside = folder.make_folder("own/in");
  const auto resolved =
      resolve(granting({{inside, Access::kRead, false, Origin::kCwd}}), {{folder / "own"}});
  ASSERT_TRUE(resolved);
  EXPECT_TRUE(resolved->grants.at(0).skipped);
  EXPECT_THAT(resolved->grants[0].warning, HasSubstr("guardd's own"));
}

TEST(GrantWarning, FileSystemsWithoutStableInodesAreNamed) {
  EXPECT_THAT(unstable_inodes_warning(0x01021997), HasSubstr("9p"));
  EXPECT_THAT(unstable_inodes_warning(0x65735546), HasSubstr("FUSE"));
  EXPECT_THAT(unstable_inodes_warning(0xef53), IsEmpty());  // ext4
}

TEST(GrantWarning, WideGrantsSayWhatElseTheyOpen) {
  EXPECT_THAT(wide_grant_warning("/dev", Access::kWrite), HasSubstr("device"));
  EXPECT_THAT(wide_grant_warning("/dev", Access::kRead), HasSubstr("every terminal"));
  EXPECT_THAT(wide_grant_warning("/dev/pts", Access::kWrite), HasSubstr("every terminal"));
  EXPECT_THAT(wide_grant_warning("/dev/shm", Access::kWrite), IsEmpty());
  EXPECT_THAT(wide_grant_warning("/", Access::kRead), HasSubstr("command lines"));
  EXPECT_THAT(wide_grant_warning("/srv", Access::kWrite), IsEmpty());
}

TEST(GrantWarning, ASingleFileInTheRootIsNotAdvisedToGrantTheRoot) {
  EXPECT_THAT(single_file_warning("/swapfile"), testing::EndsWith("need its folder"));
  EXPECT_THAT(single_file_warning("/a b/c"), HasSubstr("--allow-write '/a b'"));
}

TEST(GrantWarning, HintsKnowWhatTheShellDidNotExpand) {
  EXPECT_THAT(missing_path_hint("/w/~/x"), HasSubstr("$HOME"));
  EXPECT_THAT(missing_path_hint("/w/rw/**"), HasSubstr("patterns"));
  EXPECT_THAT(missing_path_hint("/w/a b"), HasSubstr("mkdir -p '/w/a b'"));
}

}  // namespace
}  // namespace guard::sandbox
