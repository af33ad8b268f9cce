#include "common/sandbox/seccomp/program.h"

#include <gtest/gtest.h>

#include "common/sandbox/seccomp/interpret.h"

namespace guard::seccomp {
namespace {

constexpr sock_filter kAllow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
constexpr sock_filter kLoadNumber{BPF_LD | BPF_W | BPF_ABS, 0, 0, kNumberOffset};

std::string complaint(const Program& program) {
  const Result<> result = check(program);
  return result ? "" : result.error().what;
}

TEST(Assembler, ResolvesForwardLabelsOfEveryKindOfJump) {
  Assembler code;
  const auto five = code.label();
  const auto big = code.label();
  const auto odd = code.label();
  code.load(low_offset(0));
  code.if_equal(5, five);
  code.if_above(100, big);
  code.if_any_bit(1, odd);
  code.ret(errno_action(1));
  code.bind(five);
  code.ret(errno_action(5));
  code.bind(big);
  code.ret(errno_action(100));
  code.bind(odd);
  code.ret(errno_action(7));
  const Result<Program> program = code.finish();
  ASSERT_TRUE(program);

  const auto run = [&](std::uint64_t argument) {
    seccomp_data call{};
    call.args[0] = argument;
    return interpret(*program, call).value() & SECCOMP_RET_DATA;
  };
  EXPECT_EQ(run(5), 5u);
  EXPECT_EQ(run(101), 100u);
  EXPECT_EQ(run(100), 1u);
  EXPECT_EQ(run(99), 7u);
}

TEST(Assembler, RefusesALabelThatWasNeverBound) {
  Assembler code;
  code.go_to(code.label());
  code.ret(SECCOMP_RET_ALLOW);
  const Result<Program> program = code.finish();
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().what, "BPF jump at 0 has no forward target");
}

TEST(Assembler, RefusesAJumpBackwards) {
  Assembler code;
  const auto start = code.label();
  code.bind(start);
  code.load(kNumberOffset);
  code.if_equal(1, start);
  code.ret(SECCOMP_RET_ALLOW);
  EXPECT_FALSE(code.finish());
}

TEST(Assembler, ReachesFarOnlyWithAnUnconditionalJump) {
  for (const int distance : {255, 256}) {
    for (const bool conditional : {true, false}) {
      Assembler code;
      const auto far = code.label();
      if (conditional) {
        code.if_equal(0, far);
      } else {
        code.go_to(far);
      }
      for (int i = 0; i < distance; ++i) code.ret(errno_action(1));
      code.bind(far);
      code.ret(SECCOMP_RET_ALLOW);
      const Result<Program> program = code.finish();
      if (conditional && distance > 255) {
        EXPECT_FALSE(program);
      } else {
        ASSERT_TRUE(program);
        EXPECT_EQ(interpret(*program, {}).value(), SECCOMP_RET_ALLOW);
      }
    }
  }
}

TEST(Concatenate, LetsTheFrontFallOutIntoTheBack) {
  Assembler code;
  const auto out = code.label();
  code.load(kNumberOffset);
  code.if_not_equal(7, out);
  code.ret(errno_action(7));
  code.bind(out);
  const Program front = code.finish().value();
  EXPECT_NE(complaint(front), "") << "the front alone has no end";
  const Program both = concatenate(front, {kAllow}).value();
  seccomp_data call{};
  call.nr = 7;
  EXPECT_EQ(interpret(both, call).value(), errno_action(7));
  call.nr = 8;
  EXPECT_EQ(interpret(both, call).value(), SECCOMP_RET_ALLOW);
  EXPECT_FALSE(concatenate(front, {}));
}

TEST(Check, TakesWhatTheKernelTakes) {
  EXPECT_EQ(complaint({kAllow}), "");
  EXPECT_EQ(complaint({{BPF_ST, 0, 0, 3}, {BPF_LD | BPF_MEM, 0, 0, 3}, kAllow}), "");
  EXPECT_EQ(complaint({kLoadNumber, {BPF_RET | BPF_A, 0, 0, 0}}), "");
}

TEST(Check, RefusesProgramsOfNoOrTooManyInstructions) {
  EXPECT_EQ(complaint({}), "BPF program has 0 instructions, 1 to 4096 are allowed");
  EXPECT_EQ(complaint(Program(4096, kAllow)), "");
  EXPECT_EQ(complaint(Program(4097, kAllow)),
            "BPF program has 4097 instructions, 1 to 4096 are allowed");
}

TEST(Check, RefusesWhatTheKernelRefuses) {
  const auto first = [](sock_filter instruction) { return complaint({instruction, kAllow}); };
  EXPECT_EQ(first({BPF_LD | BPF_B | BPF_ABS, 0, 0, 0}),
            "BPF instruction 0 is not known to seccomp");
  EXPECT_EQ(first({BPF_ALU | BPF_MOD | BPF_K, 0, 0, 2}),
            "BPF instruction 0 is not known to seccomp");
  EXPECT_EQ(first({BPF_LD | BPF_W | BPF_ABS, 0, 0, 2}),
            "BPF instruction 0 loads outside seccomp_data");
  EXPECT_EQ(first({BPF_LD | BPF_W | BPF_ABS, 0, 0, sizeof(seccomp_data)}),
            "BPF instruction 0 loads outside seccomp_data");
  EXPECT_EQ(first({BPF_JMP | BPF_JA, 0, 0, 1}), "BPF instruction 0 jumps out of the program");
  EXPECT_EQ(first({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0}),
            "BPF instruction 0 jumps out of the program");
  EXPECT_EQ(first({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0}),
            "BPF instruction 0 jumps out of the program");
  EXPECT_EQ(first({BPF_ALU | BPF_DIV | BPF_K, 0, 0, 0}), "BPF instruction 0 divides by zero");
  EXPECT_EQ(first({BPF_ALU | BPF_LSH | BPF_K, 0, 0, 32}),
            "BPF instruction 0 shifts by more than a word");
  EXPECT_EQ(first({BPF_ST, 0, 0, 16}), "BPF instruction 0 is outside the scratch memory");
  EXPECT_EQ(complaint({kAllow, kLoadNumber}), "BPF program does not end with a return");
}

TEST(Check, RefusesAReadOfMemoryThatOnePathDidNotWrite) {
  // The store is jumped over when the number is 1.
  EXPECT_EQ(complaint({kLoadNumber,
                       {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1},
                       {BPF_ST, 0, 0, 0},
                       {BPF_LD | BPF_MEM, 0, 0, 0},
                       kAllow}),
            "BPF instruction 3 reads unwritten memory");
}

TEST(Disassemble, ShowsTargetsAsPositionsAndActionsAsWords) {
  Assembler code;
  const auto out = code.label();
  code.load(kArchOffset);
  code.load(high_offset(2));
  code.mask(0xf);
  code.if_not_equal(1, out);
  code.ret(errno_action(EPERM));
  code.bind(out);
  code.ret(SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(disassemble(code.finish().value()),
            "   0: ld arch\n"
            "   1: ld arg2.hi\n"
            "   2: and 0xf\n"
            "   3: jeq 0x1, 4, 5\n"
            "   4: ret errno EPERM\n"
            "   5: ret kill process\n");
}

TEST(ActionText, NamesEveryAction) {
  EXPECT_EQ(action_text(SECCOMP_RET_ALLOW), "allow");
  EXPECT_EQ(action_text(SECCOMP_RET_ERRNO | ENOSYS), "errno ENOSYS");
  EXPECT_EQ(action_text(SECCOMP_RET_ERRNO), "success");
  EXPECT_EQ(action_text(SECCOMP_RET_ERRNO | 999), "errno 999");
  EXPECT_EQ(action_text(SECCOMP_RET_KILL_THREAD), "kill thread");
  EXPECT_EQ(action_text(SECCOMP_RET_USER_NOTIF), "notify");
}

}  // namespace
}  // namespace guard::seccomp
