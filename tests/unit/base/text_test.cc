#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/nearest.h"
#include "common/base/shell_quote.h"
#include "common/base/utf8.h"
#include "common/base/visible.h"

namespace guard {
namespace {

using std::string_literals::operator""s;

TEST(Utf8, AcceptsEveryLengthAndRefusesWhatOnlyLooksLikeIt) {
  EXPECT_TRUE(is_utf8("plain, \xc3\xa4, \xe2\x82\xac, \xf0\x9f\x98\x80"));
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("\0"s));
  EXPECT_FALSE(is_utf8("\xff"));
  EXPECT_FALSE(is_utf8("\x80"));
  EXPECT_FALSE(is_utf8("\xc0\xaf"));          // overlong '/'
  EXPECT_FALSE(is_utf8("\xe0\x80\xaf"));      // overlong '/'
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // a surrogate
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(is_utf8("\xe2\x82"));          // cut short
}

TEST(Visible, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(visible("/srv/grün 文件/a b'\"\\"), "/srv/grün 文件/a b'\"\\");
}

TEST(Visible, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(visible("a\x1b[2Jb"), "a\\e[2Jb");
  EXPECT_EQ(visible("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(visible("\x7f\b\0"s), "\\x7f\\x08\\x00");
  EXPECT_EQ(visible("\xc2\x9b"
                    "2J"),
            "\\u{009b}2J");  // C1 control sequence introducer
  EXPECT_EQ(visible("\xff\xfe"), "\\xff\\xfe");
}

TEST(Visible, EscapesWhatReordersOrHidesText) {
  EXPECT_EQ(visible("a\u202eb"), "a\\u{202e}b");
  EXPECT_EQ(visible("a\u2066b\u2069"), "a\\u{2066}b\\u{2069}");
  EXPECT_EQ(visible("rm\u200b -rf"), "rm\\u{200b} -rf");
  EXPECT_EQ(visible("x\U000e0041"), "x\\u{e0041}");
}

TEST(Visible, KeepsLinesOnlyWhenAsked) {
  EXPECT_EQ(visible("a\n\tb\x1b", Newlines::kKeep), "a\n\tb\\e");
}

TEST(ShellQuote, LeavesPlainWordsBareAndQuotesTheRest) {
  EXPECT_EQ(shell_quote("/usr/bin/python3.11"), "/usr/bin/python3.11");
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_quote("~"), "'~'");
}

TEST(ShellQuote, NeverPutsRawControlBytesOnTheScreen) {
  EXPECT_EQ(shell_quote("a\nb"), "$'a\\nb'");
  EXPECT_EQ(shell_quote("\xff"
                        "1'"),
            "$'\\3771\\''");
  EXPECT_EQ(shell_quote("\x1b[2J"), "$'\\033[2J'");
  EXPECT_EQ(shell_quote("\u202e"), "$'\\342\\200\\256'");
}

TEST(ShellQuote, JoinsWordsIntoALine) {
  const std::array<std::string, 3> words{"sh", "-c", "echo hi"};
  EXPECT_EQ(shell_join(words), "sh -c 'echo hi'");
}

TEST(Nearest, FindsTheTypoAndNothingFar) {
  constexpr std::array<std::string_view, 4> known{"--allow-read", "--allow-write", "--timeout",
                                                  "-v"};
  EXPECT_EQ(nearest("--allow-raed", known), "--allow-read");
  EXPECT_EQ(nearest("--alow-write", known), "--allow-write");
  EXPECT_EQ(nearest("--time-out", known), "--timeout");
  EXPECT_EQ(nearest("--xyz", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(5'000, 'x'), known), "");
}

TEST(EditDistance, CountsASwapOfNeighboursOnce) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("raed", "read"), 1u);
}

}  // namespace
}  // namespace guard
