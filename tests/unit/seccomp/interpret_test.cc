#include "common/sandbox/seccomp/interpret.h"

#include <gtest/gtest.h>

namespace guard::seccomp {
namespace {

constexpr std::uint16_t kLoadWord = BPF_LD | BPF_W | BPF_ABS;
constexpr sock_filter kReturnA{BPF_RET | BPF_A, 0, 0, 0};

std::uint32_t run(Program program, const seccomp_data& call = {}) {
  program.push_back(kReturnA);
  return interpret(program, call).value();
}

TEST(Interpret, ReadsEveryFieldInHalvesLowFirst) {
  seccomp_data call{};
  call.nr = -2;
  call.arch = 0x12345678;
  call.instruction_pointer = 0x0102030405060708;
  call.args[5] = 0xaabbccdd11223344;
  EXPECT_EQ(run({{kLoadWord, 0, 0, kNumberOffset}}, call), 0xfffffffeu);
  EXPECT_EQ(run({{kLoadWord, 0, 0, kArchOffset}}, call), 0x12345678u);
  EXPECT_EQ(run({{kLoadWord, 0, 0, 8}}, call), 0x05060708u);
  EXPECT_EQ(run({{kLoadWord, 0, 0, low_offset(5)}}, call), 0x11223344u);
  EXPECT_EQ(run({{kLoadWord, 0, 0, high_offset(5)}}, call), 0xaabbccddu);
  EXPECT_EQ(run({{BPF_LD | BPF_W | BPF_LEN, 0, 0, 0}}), sizeof(seccomp_data));
}

TEST(Interpret, CalculatesWithConstantsAndWithX) {
  const auto constant = [](std::uint16_t op, std::uint32_t a, std::uint32_t k) {
    return run(
        {{BPF_LD | BPF_IMM, 0, 0, a}, {static_cast<std::uint16_t>(BPF_ALU | op | BPF_K), 0, 0, k}});
  };
  const auto with_x = [](std::uint16_t op, std::uint32_t a, std::uint32_t x) {
    return run({{BPF_LD | BPF_IMM, 0, 0, a},
                {BPF_LDX | BPF_IMM, 0, 0, x},
                {static_cast<std::uint16_t>(BPF_ALU | op | BPF_X), 0, 0, 99}});
  };
  struct {
    std::uint16_t op;
    std::uint32_t result;  // of 12 op 5
  } const cases[] = {{BPF_ADD, 17}, {BPF_SUB, 7}, {BPF_MUL, 60},  {BPF_DIV, 2}, {BPF_AND, 4},
                     {BPF_OR, 13},  {BPF_XOR, 9}, {BPF_LSH, 384}, {BPF_RSH, 0}};
  for (const auto& each : cases) {
    EXPECT_EQ(constant(each.op, 12, 5), each.result) << each.op;
    EXPECT_EQ(with_x(each.op, 12, 5), each.result) << each.op;
  }
  EXPECT_EQ(run({{BPF_LD | BPF_IMM, 0, 0, 1}, {BPF_ALU | BPF_NEG, 0, 0, 0}}), 0xffffffffu);
}

TEST(Interpret, EndsWithZeroOnDivisionByAZeroRegister) {
  EXPECT_EQ(run({{BPF_LD | BPF_IMM, 0, 0, 12},
                 {BPF_ALU | BPF_DIV | BPF_X, 0, 0, 0},
                 {BPF_LD | BPF_IMM, 0, 0, 7}}),
            0u);
}

TEST(Interpret, MovesBetweenRegistersAndMemory) {
  EXPECT_EQ(run({{BPF_LD | BPF_IMM, 0, 0, 42},
                 {BPF_ST, 0, 0, 15},
                 {BPF_LD | BPF_IMM, 0, 0, 0},
                 {BPF_LDX | BPF_MEM, 0, 0, 15},
                 {BPF_STX, 0, 0, 1},
                 {BPF_LD | BPF_MEM, 0, 0, 1}}),
            42u);
  EXPECT_EQ(run({{BPF_LD | BPF_IMM, 0, 0, 6},
                 {BPF_MISC | BPF_TAX, 0, 0, 0},
                 {BPF_LD | BPF_IMM, 0, 0, 0},
                 {BPF_MISC | BPF_TXA, 0, 0, 0}}),
            6u);
}

TEST(Interpret, ComparesUnsigned) {
  const auto jumps = [](std::uint16_t op, std::uint32_t a, std::uint32_t k) {
    return run({{BPF_LD | BPF_IMM, 0, 0, a},
                {static_cast<std::uint16_t>(BPF_JMP | op | BPF_K), 1, 0, k},
                {BPF_RET | BPF_K, 0, 0, 0},
                {BPF_LD | BPF_IMM, 0, 0, 1}}) == 1;
  };
  EXPECT_TRUE(jumps(BPF_JGT, 0xffffffff, 5));
  EXPECT_FALSE(jumps(BPF_JGT, 5, 5));
  EXPECT_TRUE(jumps(BPF_JGE, 5, 5));
  EXPECT_TRUE(jumps(BPF_JEQ, 5, 5));
  EXPECT_FALSE(jumps(BPF_JEQ, 5, 4));
  EXPECT_TRUE(jumps(BPF_JSET, 6, 2));
  EXPECT_FALSE(jumps(BPF_JSET, 6, 9));
}

TEST(Interpret, RefusesAnInvalidProgram) {
  EXPECT_FALSE(interpret({}, {}));
  EXPECT_FALSE(interpret({{BPF_JMP | BPF_JA, 0, 0, 9}, kReturnA}, {}));
}

}  // namespace
}  // namespace guard::seccomp
