#include "common/wire/run_request.h"

#include <string>

#include <gmock/gmock.h>

namespace guard::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::RunRequest running(std::initializer_list<const char*> args) {
  v1::RunRequest request;
  for (const char* arg : args) request.add_args(arg);
  return request;
}

Error error_of(const v1::RunRequest& request) {
  const auto parsed = spec_from(request);
  return parsed ? Error{} : parsed.error();
}

TEST(SpecFrom, TheSmallestRequestHasDefaults) {
  const auto spec = spec_from(running({"true"}));
  ASSERT_TRUE(spec) << spec.error().what;
  run::Spec expected;
  expected.argv = {"true"};
  EXPECT_EQ(*spec, expected);
}

TEST(SpecFrom, WantsAProgram) {
  EXPECT_THAT(error_of(v1::RunRequest()).what, HasSubstr("args"));
  EXPECT_THAT(error_of(running({""})).what, StartsWith("args[0]"));
}

TEST(SpecFrom, TakesOneListOfArguments) {
  v1::RunRequest request = running({"a"});
  request.add_args_bytes("b");
  EXPECT_THAT(error_of(request).what, StartsWith("args_bytes"));
  request.clear_args();
  request.add_args_bytes("\xff");
  const auto spec = spec_from(request);
  ASSERT_TRUE(spec);
  EXPECT_THAT(spec->argv, ElementsAre("b", "\xff"));
}

TEST(SpecFrom, NamesTheArgumentThatIsTooLong) {
  EXPECT_TRUE(spec_from(running({"echo", std::string(131'071, 'x').c_str()})));
  const Error error = error_of(running({"echo", std::string(131'072, 'x').c_str()}));
  EXPECT_EQ(error.code, Errc::kInvalid);
  EXPECT_THAT(error.what, StartsWith("args[1] is 131,072 bytes"));
}

TEST(SpecFrom, RefusesMoreThanExecveTakes) {
  v1::RunRequest request = running({"echo"});
  for (int i = 0; i < 17; ++i) request.add_args(std::string(130'000, 'x'));
  EXPECT_THAT(error_of(request).what, HasSubstr("together"));
}

TEST(SpecFrom, RefusesBadVariables) {
  v1::RunRequest request = running({"env"});
  v1::EnvVar* const variable = request.add_env();
  EXPECT_THAT(error_of(request).what, StartsWith("env[0]"));
  variable->set_name("A=B");
  EXPECT_THAT(error_of(request).what, StartsWith("env[0]"));
  variable->set_name("A");
  variable->set_value(std::string("x\0y", 3));
  EXPECT_THAT(error_of(request).what, HasSubstr("NUL"));
  variable->set_value("x");
  request.add_env()->set_name("A");
  EXPECT_THAT(error_of(request).what, HasSubstr("twice"));
}

TEST(SpecFrom, NamesWhatIsWrongWithKeptNames) {
  v1::RunRequest request = running({"env"});
  request.add_keep_env("HOME");
  request.add_keep_env("A=");
  EXPECT_THAT(error_of(request).what, StartsWith("keep_env[1]"));
}

TEST(SpecFrom, RefusesRelativeDirectories) {
  v1::RunRequest request = running({"pwd"});
  request.set_cwd("work");
  EXPECT_EQ(error_of(request).what, "cwd: 'work' is not absolute");
  request.set_cwd("/work");
  request.set_cwd_grant("work");
  EXPECT_EQ(error_of(request).what, "cwd_grant: 'work' is not absolute");
}

TEST(SpecFrom, ChecksIdGraceAndUmask) {
  v1::RunRequest request = running({"true"});
  request.set_run_id("../x");
  EXPECT_THAT(error_of(request).what, HasSubstr("run_id"));
  request.set_run_id("x");
  request.mutable_grace()->set_seconds(61);
  EXPECT_THAT(error_of(request).what, HasSubstr("grace"));
  request.mutable_grace()->set_seconds(0);
  EXPECT_EQ(spec_from(request)->grace, std::chrono::milliseconds(0));
  request.set_umask(0777);
  EXPECT_THAT(error_of(request).what, StartsWith("umask: is given without has_umask"));
  request.set_has_umask(true);
  EXPECT_EQ(spec_from(request)->umask, 0777u);
  request.set_umask(01000);
  EXPECT_THAT(error_of(request).what, HasSubstr("umask"));
}

TEST(SpecFrom, SaysWhatItDoesNotHave) {
  v1::RunRequest request = running({"true"});
  request.set_result_stream(true);
  EXPECT_EQ(error_of(request).code, Errc::kUnimplemented);
  EXPECT_THAT(error_of(request).what, StartsWith("result_stream"));
  request.set_result_stream(false);
  request.set_on_disconnect(v1::ON_DISCONNECT_DETACH);
  EXPECT_EQ(error_of(request).code, Errc::kUnimplemented);
  request.set_on_disconnect(static_cast<v1::OnDisconnect>(9));
  EXPECT_EQ(error_of(request).code, Errc::kInvalid);
}

TEST(Spec, SurvivesTheWire) {
  run::Spec spec;
  spec.run_id = "run-1";
  spec.argv = {"python3", "-c", "print(1)"};
  spec.env = {{"PATH", "/usr/bin"}, {"RAW", "\xff"}};
  spec.keep_env = {"HOME"};
  spec.cwd = "/srv";
  spec.cwd_grant = "/srv";
  spec.policy.paths = {{"/srv/w", sandbox::Access::kWrite}};
  spec.policy.limits.wall = std::chrono::seconds(30);
  spec.grace = std::chrono::milliseconds(750);
  spec.umask = 027;
  spec.env_withheld = 12;
  auto back = spec_from(to_proto(spec));
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(*back, spec);

  spec.argv.push_back("\xff\xfe");
  const v1::RunRequest message = to_proto(spec);
  EXPECT_EQ(message.args_size(), 0);
  back = spec_from(message);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, spec);
}

}  // namespace
}  // namespace guard::wire
