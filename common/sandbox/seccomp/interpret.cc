#include "common/sandbox/seccomp/interpret.h"

#include <array>
#include <cstring>

namespace guard::seccomp {
namespace {

struct Machine {
  std::uint32_t a = 0;
  std::uint32_t x = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> memory{};
};

std::uint32_t word_at(const seccomp_data& call, std::uint32_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&call) + offset, sizeof word);
  return word;
}

// False: division by zero.
bool calculate(std::uint16_t code, std::uint32_t operand, std::uint32_t& a) {
  switch (BPF_OP(code)) {
    case BPF_ADD:
      a += operand;
      break;
    case BPF_SUB:
      a -= operand;
      break;
    case BPF_MUL:
      a *= operand;
      break;
    case BPF_DIV:
      if (operand == 0) return false;
      a /= operand;
      break;
    case BPF_AND:
      a &= operand;
      break;
    case BPF_OR:
      a |= operand;
      break;
    case BPF_XOR:
      a ^= operand;
      break;
    case BPF_LSH:
      a <<= operand & 31;  // the kernel masks a register's shift, too
      break;
    case BPF_RSH:
      a >>= operand & 31;
      break;
    case BPF_NEG:
      a = 0 - a;
      break;
    default:
      break;
  }
  return true;
}

bool holds(std::uint16_t code, std::uint32_t a, std::uint32_t operand) {
  switch (BPF_OP(code)) {
    case BPF_JEQ:
      return a == operand;
    case BPF_JGT:
      return a > operand;
    case BPF_JGE:
      return a >= operand;
    default:
      return (a & operand) != 0;  // BPF_JSET
  }
}

void load(const sock_filter& i, const seccomp_data& call, Machine& machine) {
  std::uint32_t& target = BPF_CLASS(i.code) == BPF_LD ? machine.a : machine.x;
  switch (BPF_MODE(i.code)) {
    case BPF_ABS:
      target = word_at(call, i.k);
      break;
    case BPF_LEN:
      target = sizeof(seccomp_data);
      break;
    case BPF_IMM:
      target = i.k;
      break;
    default:
      target = machine.memory[i.k];  // BPF_MEM
  }
}

}  // namespace

Result<std::uint32_t> interpret(const Program& program, const seccomp_data& call) {
  GUARD_TRY(check(program));  // all jumps end within the program, and it ends with a return
  Machine machine;
  for (std::size_t at = 0;; ++at) {
    const sock_filter& i = program[at];
    const std::uint32_t operand = BPF_SRC(i.code) == BPF_X ? machine.x : i.k;
    switch (BPF_CLASS(i.code)) {
      case BPF_LD:
      case BPF_LDX:
        load(i, call, machine);
        break;
      case BPF_ST:
        machine.memory[i.k] = machine.a;
        break;
      case BPF_STX:
        machine.memory[i.k] = machine.x;
        break;
      case BPF_ALU:
        if (!calculate(i.code, operand, machine.a)) return 0u;
        break;
      case BPF_MISC:
        (i.code == (BPF_MISC | BPF_TAX) ? machine.x : machine.a) =
            i.code == (BPF_MISC | BPF_TAX) ? machine.a : machine.x;
        break;
      case BPF_JMP:
        if (BPF_OP(i.code) == BPF_JA) {
          at += i.k;
        } else {
          at += holds(i.code, machine.a, operand) ? i.jt : i.jf;
        }
        break;
      default:  // BPF_RET
        return BPF_RVAL(i.code) == BPF_A ? machine.a : i.k;
    }
  }
}

}  // namespace guard::seccomp
