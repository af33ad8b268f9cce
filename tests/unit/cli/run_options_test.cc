#include "client/cli/run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/run/spec.h"

namespace guard::client {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<RunOptions> parse(std::vector<std::string> arguments) {
  return parse_run_options(RunVerb::kRun, arguments, "/srv");
}

Error wrong(std::vector<std::string> arguments) {
  const auto options = parse(std::move(arguments));
  EXPECT_FALSE(options);
  return options ? Error{} : options.error();
}

Caller caller() { return {{"PATH=/bin", "HOME=/home/me", "SECRET=x"}, "/srv/work", 022}; }

Result<RunPlan> plan(std::vector<std::string> arguments, const Caller& who = caller()) {
  GUARD_ASSIGN(const RunOptions options, parse_run_options(RunVerb::kRun, arguments, who.cwd));
  return plan_run(options, who);
}

TEST(RunOptions, TakesTheCommandAfterTheDashesAsItIs) {
  EXPECT_THAT(parse({"--", "sh", "-c", "--", "--timeout", ""})->command,
              ElementsAre("sh", "-c", "--", "--timeout", ""));
}

TEST(RunOptions, ReadsItsFlagsInBothSpellings) {
  const auto options = parse({"--timeout", "2s", "--grace=1s", "--json", "-v", "-n", "--socket",
                              "/s", "--allow-read=a", "--", "x"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->timeout, milliseconds(2'000));
  EXPECT_EQ(options->grace, milliseconds(1'000));
  EXPECT_TRUE(options->json && options->verbose && !options->relay_stdin);
  EXPECT_EQ(options->socket, "/s");
  EXPECT_EQ(options->request.policy.paths[0].path, "/srv/a");
}

TEST(RunOptions, KnowsATimeLimitThatIsNone) {
  EXPECT_EQ(parse({"--timeout", "none", "--", "x"})->timeout, std::nullopt);
}

TEST(RunOptions, NamesTheFlagThatIsWrong) {
  EXPECT_EQ(wrong({"--timeout", "-1", "--", "x"}).what, "--timeout: '-1' is negative");
  EXPECT_EQ(wrong({"--timeout"}).what, "--timeout lacks its DURATION");
  EXPECT_EQ(wrong({"--timeout", "--", "x"}).what, "--timeout lacks its DURATION");
  EXPECT_EQ(wrong({"--grace", "2m", "--", "x"}).hint, "at most 1m");
  EXPECT_EQ(wrong({"--json=1", "--", "x"}).what, "--json takes no value");
  EXPECT_EQ(wrong({"--socket=", "--", "x"}).what, "--socket '' is empty");
  EXPECT_EQ(wrong({
                      "--",
                  })
                .what,
            "nothing comes after --");
  EXPECT_EQ(wrong({}).what, "there is no command");
  EXPECT_EQ(wrong({"ls"}).what, "'ls' is no flag");
}

TEST(RunOptions, OneOfTwoValuesIsNotGuessed) {
  EXPECT_EQ(wrong({"--timeout", "1s", "--timeout=1s", "--", "x"}).what, "--timeout is given twice");
  EXPECT_EQ(wrong({"--grace=1s", "--grace=2s", "--", "x"}).what, "--grace is given twice");
  EXPECT_EQ(wrong({"--socket=/a", "--socket=/b", "--", "x"}).what, "--socket is given twice");
  EXPECT_EQ(wrong({"--cd=/a", "--cd=/b", "--", "x"}).what, "--cd is given twice");
  EXPECT_TRUE(parse({"-v", "--verbose", "--json", "--json", "--", "x"}));
}

TEST(RunOptions, SaysWhatToUseInsteadOfAFlagOfXenarchGuard) {
  EXPECT_THAT(wrong({"--check", "--", "x"}).hint, HasSubstr("guardctl check"));
  EXPECT_THAT(wrong({"-q", "--", "x"}).hint, HasSubstr("-v asks"));
  EXPECT_THAT(wrong({"--json-report=3", "--", "x"}).hint, HasSubstr("--json"));
  EXPECT_THAT(wrong({"--allow-tty-modes", "--", "x"}).hint, HasSubstr("xenarch-guard"));
}

TEST(RunOptions, OffersTheNearestOfItsOwnAndOfThePolicysFlags) {
  EXPECT_EQ(wrong({"--timout", "1s", "--", "x"}).hint, "did you mean --timeout?");
  EXPECT_EQ(wrong({"--allow-wrte", "x", "--", "x"}).hint, "did you mean --allow-write?");
  EXPECT_THAT(wrong({"--deny-read", "x", "--", "x"}).hint, HasSubstr("allow list"));
}

TEST(RunOptions, OfCheckNeedNoCommandAndKnowNoTimeLimit) {
  const std::vector<std::string> none;
  EXPECT_TRUE(parse_run_options(RunVerb::kCheck, none, "/srv"));
  const std::vector<std::string> timeout{"--timeout", "1s"};
  const auto refused = parse_run_options(RunVerb::kCheck, timeout, "/srv");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("guardctl run has it"));
}

TEST(PlanRun, MakesASoundRun) {
  const auto planned = plan({"--timeout", "2s", "--allow-write", "out", "--", "sh"});
  ASSERT_TRUE(planned) << planned.error().message();
  const run::Spec& spec = planned->spec;
  EXPECT_TRUE(run::is_run_id(spec.run_id));
  EXPECT_THAT(spec.argv, ElementsAre("sh"));
  EXPECT_EQ(spec.cwd, "/srv/work");
  EXPECT_EQ(spec.policy.limits.wall, milliseconds(2'000));
  EXPECT_EQ(spec.umask, 022u);
  ASSERT_EQ(spec.policy.paths.size(), 1u);
  EXPECT_EQ(spec.policy.paths[0].path, "/srv/work/out");
}

TEST(PlanRun, TakesTheIdThatIsGivenOrMakesOne) {
  EXPECT_EQ(plan({"--run-id", "nightly.7", "--", "x"})->spec.run_id, "nightly.7");
  EXPECT_NE(plan({"--", "x"})->spec.run_id, plan({"--", "x"})->spec.run_id);
  EXPECT_EQ(wrong({"--run-id", "../x", "--", "x"}).what, "--run-id '../x' is no run id");
  EXPECT_EQ(wrong({"--run-id=", "--", "x"}).what, "--run-id '' is no run id");
}

TEST(PlanRun, GrantsTheWorkingDirectoryApartFromWhatWasAsked) {
  EXPECT_EQ(plan({"--", "sh"})->spec.cwd_grant, "/srv/work");
  EXPECT_EQ(plan({"--no-cwd", "--", "sh"})->spec.cwd_grant, "");
  Caller at_home = caller();
  at_home.cwd = "/home";
  const auto planned = plan({"--", "sh"}, at_home);
  EXPECT_EQ(planned->spec.cwd_grant, "");
  EXPECT_THAT(planned->notes, Contains(HasSubstr("working directory is not granted")));
}

TEST(PlanRun, RunsInTheFolderOfCdAndGrantsThatOne) {
  const auto planned = plan({"--cd", "sub", "--allow-read", "x", "--", "sh"});
  EXPECT_EQ(planned->spec.cwd, "/srv/work/sub");
  EXPECT_EQ(planned->spec.cwd_grant, "/srv/work/sub");
  EXPECT_EQ(planned->spec.policy.paths[0].path, "/srv/work/x");
}

TEST(PlanRun, ChoosesTheEnvironmentByName) {
  const auto planned = plan({"--env", "HOME=/h", "--env", "NEW=1", "--env", "ABSENT", "--", "sh"});
  ASSERT_TRUE(planned);
  std::vector<std::string> names;
  for (const auto& variable : planned->spec.env) names.push_back(variable.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("PATH", "HOME", "NEW"));
  EXPECT_EQ(planned->spec.env_withheld, 1u);
  EXPECT_THAT(planned->spec.keep_env, Contains("HOME"));
  EXPECT_THAT(planned->notes, Contains("--env ABSENT is not set here"));
}

TEST(PlanRun, NamesTheArgumentThatIsTooLong) {
  const auto planned = plan({"--", "sh", std::string(131'072, 'x')});
  ASSERT_FALSE(planned);
  EXPECT_THAT(planned.error().what, HasSubstr("args[1] is 131,072 bytes"));
}

TEST(PlanRun, RefusesAWorkingDirectoryThatIsGone) {
  Caller nowhere = caller();
  nowhere.cwd = "";
  EXPECT_THAT(plan({"--", "sh"}, nowhere).error().what, HasSubstr("is gone"));
  EXPECT_EQ(plan({"--cd", "/srv", "--", "sh"}, nowhere)->spec.cwd, "/srv");
}

}  // namespace
}  // namespace guard::client
