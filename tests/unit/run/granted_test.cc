#include "common/run/granted.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::run {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Links : public testing::Test {
 protected:
  Links() {
    const char* base = std::getenv("TMPDIR");
    std::string name = std::string(base != nullptr ? base : "/var/tmp") + "/links-XXXXXX";
    top_ = fs::canonical(::mkdtemp(name.data()));
    for (const char* folder : {"ws", "out/d", "ro"}) fs::create_directories(top_ / folder);
    grant("ws");
    grant("ro");
  }
  ~Links() override { fs::remove_all(top_); }

  void grant(const std::string& name) {
    sandbox::GrantLine line;
    line.path = line.resolved = top_ / name;
    report_.grants.push_back(line);
  }
  void link(const std::string& name, const std::string& target) {
    fs::create_symlink(target, top_ / name);
  }
  std::vector<std::string> of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "cat");
    return links_that_lead_out(arguments, top_ / "ws", report_);
  }

  fs::path top_;
  sandbox::Report report_;
};

TEST_F(Links, NamesLinkTargetAndFlag) {
  link("ws/l", "../out/secret");
  const std::string target = top_ / "out/secret";
  EXPECT_THAT(of({"l"}), ElementsAre("the link " + (top_ / "ws/l").string() + " leads to " +
                                     target + ", which is not granted: --allow-read " + target));
  EXPECT_THAT(of({top_ / "ws/l"}), SizeIs(1));
}

TEST_F(Links, NamesTheOneOnTheWay) {
  link("ws/d", top_ / "out/d");
  EXPECT_THAT(of({"d/file"}),
              ElementsAre(HasSubstr("ws/d leads to " + (top_ / "out/d/file").string())));
}

TEST_F(Links, NamesTheFirstGrantedOneOfAChain) {
  link("out/two", "d");
  link("ws/one", "../out/two");
  EXPECT_THAT(of({"one"}), ElementsAre(HasSubstr("ws/one leads to " + (top_ / "out/d").string())));
}

TEST_F(Links, OnesThatStayInsideAreFine) {
  link("ws/l", "../ro/data");
  link("ws/self", "self");
  EXPECT_THAT(of({"l", "self", "no-link", "", "-", "text with blanks"}), IsEmpty());
}

TEST_F(Links, WhatIsSimplyNotGrantedIsNoMatterOfLinks) {
  link("out/l", "secret");
  EXPECT_THAT(of({"../out/secret", "../out/l", top_ / "out/l"}), IsEmpty());
}

TEST_F(Links, ASkippedGrantGrantsNothing) {
  link("ws/l", "../out/secret");
  grant("out");
  EXPECT_THAT(of({"l"}), IsEmpty());
  report_.grants.back().skipped = true;
  EXPECT_THAT(of({"l"}), SizeIs(1));
}

TEST_F(Links, AreToldOnceAndNotByTheDozen) {
  for (const char* name : {"a", "b", "c", "d", "e"}) link(std::string("ws/") + name, "../out");
  EXPECT_THAT(of({"a", "a", "./a"}), SizeIs(1));
  EXPECT_THAT(of({"a", "b", "c", "d", "e"}), SizeIs(3));
}

TEST_F(Links, WithoutASandboxNothingIsRefused) {
  link("ws/l", "../out/secret");
  report_.level = sandbox::Level::kUnsafeNoGuard;
  EXPECT_THAT(of({"l"}), IsEmpty());
  EXPECT_THAT(links_that_lead_out({}, "/", report_), IsEmpty());
}

}  // namespace
}  // namespace guard::run
