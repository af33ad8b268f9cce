#include "client/render/findings_text.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace guard::client {
namespace {

using doctor::Findings;
using doctor::Level;

const Findings kTwo = {{"kernel", Level::kOk, "Linux 6.12", ""},
                       {"landlock", Level::kProblem, "no Landlock", "boot another"}};

TEST(FindingsText, IsAsciiAndPlainForAPipe) {
  EXPECT_EQ(findings_text(kTwo, {}),
            "ok      Linux 6.12\n"
            "problem no Landlock\n"
            "        fix: boot another\n"
            "1 problem, 0 warnings\n");
}

TEST(FindingsText, HasSymbolsAndColourWhereThereMayBe) {
  EXPECT_EQ(findings_text(kTwo, {.color = false, .symbols = true}),
            "✓ Linux 6.12\n✗ no Landlock\n  fix: boot another\n1 problem, 0 warnings\n");
  EXPECT_EQ(findings_text({kTwo[0]}, {.color = true, .symbols = true}),
            "\x1b[32m✓\x1b[0m Linux 6.12\n0 problems, 0 warnings\n");
}

TEST(FindingsText, LetsNoPathWriteToTheTerminal) {
  const std::string text =
      findings_text({{"socket", Level::kNote, "'/\x1b]0;t\a\n'", "x\ny"}}, {.symbols = true});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

}  // namespace
}  // namespace guard::client
