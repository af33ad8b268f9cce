// The whole program for each architecture, as text: a change of the filter is seen in review.
// GUARD_UPDATE_GOLDEN=1 in the environment writes the files instead of comparing them.
#include <stdlib.h>

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/unit/seccomp/made_up_call.h"

namespace guard::seccomp {
namespace {

class Golden : public ::testing::TestWithParam<Arch> {};

INSTANTIATE_TEST_SUITE_P(Arch, Golden, ::testing::ValuesIn(kBothArchs),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(Golden, FilterIsTheOneThatWasReviewed) {
  const char* source = ::getenv("GUARD_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "GUARD_SOURCE_DIR names the source folder";
  const std::string path =
      std::string(source) + "/tests/unit/seccomp/golden/" + std::string(name(GetParam())) + ".txt";
  const std::string now =
      disassemble(filter_for({.arch = GetParam(), .inet_stream = true, .refuse_kill_all = true}));
  if (::getenv("GUARD_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << now;
    GTEST_SKIP() << "wrote " << path;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::ostringstream reviewed;
  reviewed << file.rdbuf();
  EXPECT_EQ(now, reviewed.str()) << "GUARD_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace
}  // namespace guard::seccomp
