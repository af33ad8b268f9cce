#include "client/render/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

#include "client/render/byte_sink.h"
#include "common/os/pipe.h"
#include "common/os/sys.h"
#include "common/os/unique_fd.h"

namespace guard::client {
namespace {

TEST(WantsColor, OnlyOnATerminalThatMayHaveIt) {
  const os::UniqueFd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal) GTEST_SKIP() << "no pseudo-terminals here";
  EXPECT_TRUE(wants_color(terminal.get(), {"TERM=xterm"}));
  EXPECT_TRUE(wants_color(terminal.get(), {"NO_COLOR="}));
  EXPECT_FALSE(wants_color(terminal.get(), {"NO_COLOR=1", "TERM=xterm"}));
  EXPECT_FALSE(wants_color(terminal.get(), {"TERM=dumb"}));
  const auto pipe = os::make_pipe();
  EXPECT_FALSE(wants_color(pipe->write.get(), {"TERM=xterm"}));
}

TEST(StyleOf, HasSymbolsOnATerminalWhoseLocaleIsUtf8) {
  const os::UniqueFd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal) GTEST_SKIP() << "no pseudo-terminals here";
  EXPECT_EQ(style_of(terminal.get(), {"LANG=C.UTF-8"}), (TextStyle{true, true}));
  EXPECT_EQ(style_of(terminal.get(), {"LANG=de_DE.utf8", "NO_COLOR=1"}), (TextStyle{false, true}));
  EXPECT_FALSE(style_of(terminal.get(), {"LC_ALL=C", "LANG=C.UTF-8"}).symbols);
  EXPECT_FALSE(style_of(terminal.get(), {}).symbols);
  const auto pipe = os::make_pipe();
  EXPECT_EQ(style_of(pipe->write.get(), {"LANG=C.UTF-8", "TERM=xterm"}), TextStyle{});
}

TEST(DescriptorSinkTest, WritesAndSaysWhatItCouldNot) {
  auto pipe = os::make_pipe();
  ASSERT_TRUE(pipe);
  DescriptorSink sink(pipe->write.get(), "standard output");
  ASSERT_TRUE(sink.write("hello"));
  char buffer[8] = {};
  ASSERT_EQ(os::read_some(pipe->read.get(), buffer, sizeof buffer), 5u);
  DescriptorSink closed(-1, "standard output");
  EXPECT_EQ(closed.write("x").error().message(), "write standard output: Bad file descriptor");
  EXPECT_TRUE(closed.write(""));
}

}  // namespace
}  // namespace guard::client
