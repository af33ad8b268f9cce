#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sandbox/report_json.h"
#include "common/sandbox/report_text.h"
#include "common/sandbox/report_words.h"

namespace guard::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report sample() {
  Report report;
  report.landlock_abi = report.landlock_abi_kernel = 7;
  report.kernel = "6.18";
  report.protections = {{Protection::kNoNewPrivs, Status::kEnforced, "prctl", ""},
                        {Protection::kFileAccess, Status::kEnforced, "landlock", ""}};
  report.grants = {
      {"/srv/notes", "/srv/notes", Access::kRead, Origin::kAsked, "read list execute", false, ""},
      {"/srv/l", "/srv/target", Access::kWrite, Origin::kAsked, "read write", false, ""},
      {"/srv/none", "/srv/none", Access::kRead, Origin::kAsked, "", true, ""},
      {"/w", "/w", Access::kRead, Origin::kCwd, "read list execute", false, ""},
      {"/p/home", "/p/home", Access::kWrite, Origin::kPrivate, "read write", false, ""},
      {"/usr", "/usr", Access::kRead, Origin::kBase, "read list execute", false, ""}};
  report.ungoverned = {"names of files"};
  report.env_passed = 9;
  report.env_withheld = 14;
  report.private_home = "/p/home";
  return report;
}

TEST(ReportText, IsAtMostSixLinesInTheWordsOfTheGate) {
  Report report = sample();
  EXPECT_EQ(report_text(report, {}),
            "[xenarch-guard] allow-read:  /srv/notes, /srv/none (missing, skipped), /w (working "
            "directory)\n"
            "[xenarch-guard] allow-write: /srv/l -> /srv/target\n"
            "[xenarch-guard] network:     connect blocked, bind blocked\n"
            "[xenarch-guard] base:        read and execute system files (-v lists them), write "
            "/dev/null, ...; private HOME and TMPDIR\n"
            "[xenarch-guard] env:         9 passed, 14 withheld\n");
  report.protections.push_back({Protection::kSignals, Status::kWeakened, "seccomp", "reason one"});
  report.protections.push_back({Protection::kDeviceIoctl, Status::kWeakened, "", "reason two"});
  report.warnings = {"a warning"};
  const std::string text = report_text(report, {});
  EXPECT_EQ(std::ranges::count(text, '\n'), 6);
  EXPECT_THAT(text, HasSubstr("weakened:    signals (reason one), device_ioctl (reason two); a "
                              "warning\n"));
}

TEST(ReportText, PortsAreOfAnyHost) {
  Report report = sample();
  report.connect_ports = {443, 80};
  report.bind_ports = {0, 8080};
  EXPECT_EQ(network_words(report), "connect 443, 80 (any host), bind any free port, 8080");
}

TEST(ReportText, TellsWhenNothingIsConfined) {
  Report report = sample();
  report.level = Level::kUnsafeNoGuard;
  EXPECT_THAT(report_text(report, {}), HasSubstr("DISABLED"));
  EXPECT_THAT(report_text(report, {}), Not(HasSubstr("allow-write")));
}

TEST(ReportText, VerboseHasEveryGrantProtectionAndOpenEnd) {
  const std::string text = report_text(sample(), {.prefix = "", .verbose = true});
  EXPECT_THAT(text, HasSubstr("  /usr: read list execute [base]\n"));
  EXPECT_THAT(text, HasSubstr("  file_access: enforced by landlock\n"));
  EXPECT_THAT(text, HasSubstr("not governed:\n  names of files\n"));
  EXPECT_THAT(text, HasSubstr("Landlock ABI 7"));
}

TEST(ReportText, NothingInAPathReachesTheTerminalRaw) {
  Report report = sample();
  report.grants[0].path = "/a\x1b[2J\xe2\x80\xae b\n";
  const std::string text = report_text(report, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
}

TEST(ReportJson, IsOneLineWithTheNamesOfTheApi) {
  const std::string json = report_json(sample());
  EXPECT_THAT(json, Not(HasSubstr("\n")));
  EXPECT_THAT(json, HasSubstr(R"({"level":"default","landlock_abi":7,)"));
  EXPECT_THAT(json,
              HasSubstr(R"({"name":"file_access","status":"enforced","by":"landlock","why":""})"));
  EXPECT_THAT(json, HasSubstr(R"("path":"/srv/l","resolved":"/srv/target","access":"write")"));
  EXPECT_THAT(json, HasSubstr(R"("skipped":true)"));
  EXPECT_THAT(json, HasSubstr(R"("connect_ports":[],)"));
}

TEST(ReportJson, BytesThatAreNoTextAreBase64AndControlCharactersEscaped) {
  Report report = sample();
  report.grants = {{"/\xff", "/a\"\\\n\x01", Access::kRead, Origin::kAsked, "", false, ""}};
  report.private_home.clear();
  const std::string json = report_json(report);
  EXPECT_THAT(json, HasSubstr(R"("path_base64":"L/8=")"));
  EXPECT_THAT(json, HasSubstr(R"("resolved":"/a\"\\\u000a\u0001")"));
}

TEST(ReportWords, NamesAreStableAndDistinct) {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Protection::kTreeKill); ++i) {
    names.push_back(name_of(static_cast<Protection>(i)));
  }
  EXPECT_THAT(names,
              ::testing::ElementsAre("no_new_privs", "file_access", "truncate", "device_ioctl",
                                     "network", "unix_sockets", "signals", "processes",
                                     "syscall_filter", "descriptors", "tree_kill"));
}

}  // namespace
}  // namespace guard::sandbox
