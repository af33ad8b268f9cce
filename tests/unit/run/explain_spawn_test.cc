#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/run/executable_file.h"
#include "common/run/result.h"

namespace guard::run {
namespace {

namespace fs = std::filesystem;
using sandbox::Stage;
using testing::HasSubstr;

class ExplainSpawn : public testing::Test {
 protected:
  ExplainSpawn() {
    const char* base = std::getenv("TMPDIR");
    std::string name = std::string(base != nullptr ? base : "/var/tmp") + "/explain-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ExplainSpawn() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text, mode_t mode = 0755) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  SpawnError exec_failed(int error, const std::string& path) {
    return explain_spawn(Stage::kExec, error, 0, path, confined_ ? &report_ : nullptr);
  }
  void grant(const std::string& path) {
    sandbox::GrantLine line;
    line.path = line.resolved = path;
    report_.grants.push_back(line);
    confined_ = true;
  }

  fs::path folder_;
  sandbox::Report report_;
  bool confined_ = false;
};

TEST_F(ExplainSpawn, TellsAProgramThatIsNotThere) {
  const SpawnError error = exec_failed(ENOENT, folder_ / "nope");
  EXPECT_EQ(error.message, "'" + (folder_ / "nope").string() + "' does not exist");
  EXPECT_EQ(error.stage, Stage::kExec);
  EXPECT_EQ(error.os_errno, ENOENT);
  EXPECT_EQ(exec_failed(ENOENT, "nope").message, "'nope' is not in PATH");
  EXPECT_THAT(exec_failed(ENOENT, "nope").hint, HasSubstr("full path"));
}

TEST_F(ExplainSpawn, TellsAMissingInterpreterFromAMissingProgram) {
  const std::string script = file("tool", "#! /no/such/python -u\n");
  const SpawnError error = exec_failed(ENOENT, script);
  EXPECT_EQ(error.message, "interpreter '/no/such/python' of '" + script + "' does not exist");
  EXPECT_THAT(error.hint, HasSubstr("first line"));
}

TEST_F(ExplainSpawn, TellsTheLineEndsOfDos) {
  EXPECT_THAT(exec_failed(ENOENT, file("tool", "#!/bin/sh\r\necho\r\n")).message,
              HasSubstr("ends in a carriage return"));
}

TEST_F(ExplainSpawn, TellsALinkToNothing) {
  fs::create_symlink("/no/such", folder_ / "link");
  EXPECT_THAT(exec_failed(ENOENT, folder_ / "link").message,
              HasSubstr("is a symbolic link to '/no/such', which does not exist"));
}

TEST_F(ExplainSpawn, TellsWhatCannotBeExecutedAtAll) {
  EXPECT_THAT(exec_failed(EACCES, folder_).message, HasSubstr("is a directory"));
  const std::string plain = file("plain", "#!/bin/sh\n", 0644);
  EXPECT_THAT(exec_failed(EACCES, plain).message, HasSubstr("is not executable"));
  EXPECT_THAT(exec_failed(EACCES, plain).hint, HasSubstr("chmod +x " + plain));
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0755), 0);
  EXPECT_THAT(exec_failed(EACCES, folder_ / "fifo").message, HasSubstr("is not a regular file"));
  EXPECT_THAT(exec_failed(ENOTDIR, plain + "/x").message, HasSubstr("does not exist"));
}

TEST_F(ExplainSpawn, NamesTheProgramThatIsNotGrantedAndThePrefixToGrant) {
  grant("/usr");
  const std::string program = file("pyenv/bin/python",
                                   "\x7f"
                                   "ELF");
  const SpawnError error = exec_failed(EACCES, program);
  EXPECT_EQ(error.message, "'" + program + "' is not granted");
  EXPECT_EQ(error.hint, "grant it: --allow-read " + (folder_ / "pyenv").string());
}

TEST_F(ExplainSpawn, NamesTheInterpreterThatIsNotGranted) {
  const std::string python = file("venv/bin/python",
                                  "\x7f"
                                  "ELF");
  const std::string script = file("work/tool", "#!" + python + "\n");
  grant(folder_ / "work");
  const SpawnError error = exec_failed(EACCES, script);
  EXPECT_EQ(error.message, "interpreter '" + python + "' of '" + script + "' is not granted");
  EXPECT_EQ(error.hint, "grant it: --allow-read " + (folder_ / "venv").string());
}

TEST_F(ExplainSpawn, NamesTheLoaderOfADynamicProgramThatIsNotGranted) {
  const std::string program = fs::canonical("/proc/self/exe");
  if (examine(program).interpreter.empty()) GTEST_SKIP() << "the test is linked statically";
  grant(program);
  const SpawnError error = exec_failed(EACCES, program);
  EXPECT_THAT(error.message, HasSubstr("loader '"));
  EXPECT_THAT(error.message, HasSubstr("is not granted"));
}

TEST_F(ExplainSpawn, ShowsWhereASymbolicLinkLeads) {
  const std::string program = file("real/bin/x",
                                   "\x7f"
                                   "ELF");
  fs::create_symlink(program, folder_ / "x");
  grant("/usr");
  EXPECT_EQ(exec_failed(EACCES, folder_ / "x").message,
            "'" + (folder_ / "x").string() + "', which leads to '" + program + "', is not granted");
}

TEST_F(ExplainSpawn, DoesNotTakeANeighbourForGranted) {
  const std::string program = file("tools-old/x",
                                   "\x7f"
                                   "ELF");
  grant(folder_ / "tools");
  EXPECT_EQ(exec_failed(EACCES, program).hint, "grant it: --allow-read " + program);
}

TEST_F(ExplainSpawn, WordsAGuessAsOneWhenItKnowsNoGrants) {
  const std::string script = file("tool", "#!/bin/sh\n");
  const SpawnError error = exec_failed(EACCES, script);
  EXPECT_EQ(error.message, "'" + script + "' or its interpreter '/bin/sh' may not be executed");
}

TEST_F(ExplainSpawn, TellsWhatIsNoProgram) {
  const std::string notes = file("notes", "hello\n");
  EXPECT_THAT(exec_failed(ENOEXEC, notes).message, HasSubstr("neither a program nor a script"));
  EXPECT_EQ(exec_failed(ENOEXEC, notes).hint, "name its interpreter: sh " + notes);
  std::string foreign(64, '\0');
  foreign.replace(0, 5,
                  "\x7f"
                  "ELF\x01");
  EXPECT_THAT(exec_failed(ENOEXEC, file("arm", foreign)).message, HasSubstr("another machine"));
}

TEST_F(ExplainSpawn, KeepsHostileNamesOnOneLine) {
  const SpawnError error = exec_failed(ENOENT, folder_ / "a\nb\x1b[2J");
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
}

TEST(ExplainStages, SaysWhatToDoAboutTheSeventeenthLayer) {
  const SpawnError error = explain_spawn(Stage::kLandlock, E2BIG, 0, "");
  EXPECT_THAT(error.message, HasSubstr("17th Landlock layer"));
  EXPECT_NE(error.hint, "");
}

TEST(ExplainStages, SaysThatTheSandboxDidNotHold) {
  EXPECT_THAT(explain_spawn(Stage::kWitness, 0, 2, "").message, HasSubstr("does not hold"));
}

TEST(ExplainStages, NamesTheWorkingDirectory) {
  EXPECT_EQ(explain_spawn(Stage::kSetup, EACCES, 0, "/secret").message,
            "working directory '/secret': Permission denied");
}

TEST(PrefixToGrant, IsTheFolderAboveBinButNeverTheRoot) {
  EXPECT_EQ(prefix_to_grant("/usr/bin/python3"), "/usr");
  EXPECT_EQ(prefix_to_grant("/home/u/.pyenv/bin/x"), "/home/u/.pyenv");
  EXPECT_EQ(prefix_to_grant("/bin/sh"), "/bin");
  EXPECT_EQ(prefix_to_grant("/srv/tool.py"), "/srv/tool.py");
  EXPECT_EQ(prefix_to_grant("/tool"), "/tool");
}

}  // namespace
}  // namespace guard::run
