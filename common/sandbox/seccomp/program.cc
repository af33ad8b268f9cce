#include "common/sandbox/seccomp/program.h"

#include <string.h>

#include <array>
#include <limits>

#include <fmt/format.h>

namespace guard::seccomp {
namespace {

constexpr std::size_t kUnbound = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLongestConditional = 255;  // jt and jf are 8 bits wide

sock_filter statement(std::uint16_t code, std::uint32_t k) { return {code, 0, 0, k}; }

// The instructions that seccomp_check_filter() of the kernel lets through.
bool known(std::uint16_t code) {
  static constexpr auto kCodes = std::to_array<std::uint16_t>({
      BPF_LD | BPF_W | BPF_ABS,
      BPF_LD | BPF_W | BPF_LEN,
      BPF_LDX | BPF_W | BPF_LEN,
      BPF_LD | BPF_IMM,
      BPF_LDX | BPF_IMM,
      BPF_MISC | BPF_TAX,
      BPF_MISC | BPF_TXA,
      BPF_LD | BPF_MEM,
      BPF_LDX | BPF_MEM,
      BPF_ST,
      BPF_STX,
      BPF_RET | BPF_K,
      BPF_RET | BPF_A,
      BPF_ALU | BPF_ADD | BPF_K,
      BPF_ALU | BPF_ADD | BPF_X,
      BPF_ALU | BPF_SUB | BPF_K,
      BPF_ALU | BPF_SUB | BPF_X,
      BPF_ALU | BPF_MUL | BPF_K,
      BPF_ALU | BPF_MUL | BPF_X,
      BPF_ALU | BPF_DIV | BPF_K,
      BPF_ALU | BPF_DIV | BPF_X,
      BPF_ALU | BPF_AND | BPF_K,
      BPF_ALU | BPF_AND | BPF_X,
      BPF_ALU | BPF_OR | BPF_K,
      BPF_ALU | BPF_OR | BPF_X,
      BPF_ALU | BPF_XOR | BPF_K,
      BPF_ALU | BPF_XOR | BPF_X,
      BPF_ALU | BPF_LSH | BPF_K,
      BPF_ALU | BPF_LSH | BPF_X,
      BPF_ALU | BPF_RSH | BPF_K,
      BPF_ALU | BPF_RSH | BPF_X,
      BPF_ALU | BPF_NEG,
      BPF_JMP | BPF_JA,
      BPF_JMP | BPF_JEQ | BPF_K,
      BPF_JMP | BPF_JEQ | BPF_X,
      BPF_JMP | BPF_JGE | BPF_K,
      BPF_JMP | BPF_JGE | BPF_X,
      BPF_JMP | BPF_JGT | BPF_K,
      BPF_JMP | BPF_JGT | BPF_X,
      BPF_JMP | BPF_JSET | BPF_K,
      BPF_JMP | BPF_JSET | BPF_X,
  });
  static constexpr auto kKnown = [] {
    std::array<bool, 256> known{};
    for (const std::uint16_t each : kCodes) known[each] = true;
    return known;
  }();
  return code < kKnown.size() && kKnown[code];
}

// What is wrong with one instruction by itself, or null.
const char* wrong(const sock_filter& instruction, std::size_t left) {
  const std::uint32_t k = instruction.k;
  if (!known(instruction.code)) return "is not known to seccomp";
  switch (instruction.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      if (k % 4 != 0 || k >= sizeof(seccomp_data)) return "loads outside seccomp_data";
      break;
    case BPF_ALU | BPF_DIV | BPF_K:
      if (k == 0) return "divides by zero";
      break;
    case BPF_ALU | BPF_LSH | BPF_K:
    case BPF_ALU | BPF_RSH | BPF_K:
      if (k >= 32) return "shifts by more than a word";
      break;
    case BPF_LD | BPF_MEM:
    case BPF_LDX | BPF_MEM:
    case BPF_ST:
    case BPF_STX:
      if (k >= BPF_MEMWORDS) return "is outside the scratch memory";
      break;
    case BPF_JMP | BPF_JA:
      if (k >= left) return "jumps out of the program";
      break;
    default:
      if (BPF_CLASS(instruction.code) == BPF_JMP &&
          (instruction.jt >= left || instruction.jf >= left)) {
        return "jumps out of the program";
      }
  }
  return nullptr;
}

// Reads of scratch words that some path has not written. `written[i]` holds what is written on
// every path that reaches instruction i; jumps go forward, so one pass settles it.
bool reads_unwritten(const Program& program, std::size_t& at) {
  std::vector<std::uint16_t> written(program.size() + 1, 0xffff);
  std::uint16_t now = 0;
  for (at = 0; at < program.size(); ++at) {
    const sock_filter& i = program[at];
    now &= written[at];
    const auto reach = [&](std::size_t distance) { written[at + 1 + distance] &= now; };
    if (i.code == BPF_ST || i.code == BPF_STX) now |= static_cast<std::uint16_t>(1u << i.k);
    if ((i.code == (BPF_LD | BPF_MEM) || i.code == (BPF_LDX | BPF_MEM)) && !(now & (1u << i.k))) {
      return true;
    }
    if (i.code == (BPF_JMP | BPF_JA)) {
      reach(i.k);
    } else if (BPF_CLASS(i.code) == BPF_JMP) {
      reach(i.jt);
      reach(i.jf);
    }
    if (BPF_CLASS(i.code) == BPF_JMP) now = 0xffff;  // what follows is reached by jumps only
  }
  return false;
}

std::string field(std::uint32_t offset) {
  if (offset == kNumberOffset) return "number";
  if (offset == kArchOffset) return "arch";
  if (offset < offsetof(seccomp_data, args)) return fmt::format("ip.{}", offset % 8 ? "hi" : "lo");
  const std::size_t in_args = offset - offsetof(seccomp_data, args);
  return fmt::format("arg{}.{}", in_args / 8, in_args % 8 ? "hi" : "lo");
}

std::string jump_text(const char* name, const sock_filter& i, std::size_t at) {
  return fmt::format("{} {:#x}, {}, {}", name, i.k, at + 1 + i.jt, at + 1 + i.jf);
}

std::string instruction_text(const sock_filter& i, std::size_t at) {
  switch (i.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      return "ld " + field(i.k);
    case BPF_ALU | BPF_AND | BPF_K:
      return fmt::format("and {:#x}", i.k);
    case BPF_JMP | BPF_JA:
      return fmt::format("ja {}", at + 1 + i.k);
    case BPF_JMP | BPF_JEQ | BPF_K:
      return jump_text("jeq", i, at);
    case BPF_JMP | BPF_JGT | BPF_K:
      return jump_text("jgt", i, at);
    case BPF_JMP | BPF_JGE | BPF_K:
      return jump_text("jge", i, at);
    case BPF_JMP | BPF_JSET | BPF_K:
      return jump_text("jset", i, at);
    case BPF_RET | BPF_K:
      return "ret " + action_text(i.k);
    default:  // nothing that we or libseccomp emit
      return fmt::format("code {:#x} k {:#x} jt {} jf {}", i.code, i.k, i.jt, i.jf);
  }
}

}  // namespace

Assembler::Label Assembler::label() {
  labels_.push_back(kUnbound);
  return {labels_.size() - 1};
}

void Assembler::bind(Label label) { labels_[label.index] = code_.size(); }

void Assembler::load(std::uint32_t offset) {
  code_.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offset));
}

void Assembler::mask(std::uint32_t bits) {
  code_.push_back(statement(BPF_ALU | BPF_AND | BPF_K, bits));
}

void Assembler::ret(std::uint32_t action) { code_.push_back(statement(BPF_RET | BPF_K, action)); }

void Assembler::if_equal(std::uint32_t value, Label then) {
  jump(BPF_JEQ, value, then, When::kTrue);
}
void Assembler::if_not_equal(std::uint32_t value, Label then) {
  jump(BPF_JEQ, value, then, When::kFalse);
}
void Assembler::if_above(std::uint32_t value, Label then) {
  jump(BPF_JGT, value, then, When::kTrue);
}
void Assembler::if_not_above(std::uint32_t value, Label then) {
  jump(BPF_JGT, value, then, When::kFalse);
}
void Assembler::if_any_bit(std::uint32_t bits, Label then) {
  jump(BPF_JSET, bits, then, When::kTrue);
}
void Assembler::if_no_bit(std::uint32_t bits, Label then) {
  jump(BPF_JSET, bits, then, When::kFalse);
}
void Assembler::go_to(Label label) { jump(BPF_JA, 0, label, When::kAlways); }

void Assembler::jump(std::uint16_t comparison, std::uint32_t value, Label to, When when) {
  jumps_.push_back({code_.size(), to, when});
  const std::uint16_t operand = when == When::kAlways ? 0 : BPF_K;
  code_.push_back(statement(static_cast<std::uint16_t>(BPF_JMP | comparison | operand), value));
}

Result<Program> Assembler::finish() const {
  Program program = code_;
  for (const Jump& jump : jumps_) {
    const std::size_t target = labels_[jump.to.index];
    if (target == kUnbound || target <= jump.at) {
      return failure(Errc::kInternal, fmt::format("BPF jump at {} has no forward target", jump.at));
    }
    const std::size_t distance = target - jump.at - 1;
    sock_filter& instruction = program[jump.at];
    if (jump.when == When::kAlways) {
      instruction.k = static_cast<std::uint32_t>(distance);
    } else if (distance <= kLongestConditional) {
      auto& offset = jump.when == When::kTrue ? instruction.jt : instruction.jf;
      offset = static_cast<std::uint8_t>(distance);
    } else {
      return failure(Errc::kInternal, fmt::format("BPF jump at {} is too long", jump.at));
    }
  }
  return program;
}

Result<Program> concatenate(const Program& front, const Program& back) {
  Program both = front;
  both.insert(both.end(), back.begin(), back.end());
  GUARD_TRY(check(both));
  return both;
}

Result<> check(const Program& program) {
  if (program.empty() || program.size() > kMaxInstructions) {
    return failure(Errc::kInvalid,
                   fmt::format("BPF program has {} instructions, 1 to {} are allowed",
                               program.size(), kMaxInstructions));
  }
  for (std::size_t at = 0; at < program.size(); ++at) {
    if (const char* what = wrong(program[at], program.size() - at - 1)) {
      return failure(Errc::kInvalid, fmt::format("BPF instruction {} {}", at, what));
    }
  }
  if (BPF_CLASS(program.back().code) != BPF_RET) {
    return failure(Errc::kInvalid, "BPF program does not end with a return");
  }
  if (std::size_t at = 0; reads_unwritten(program, at)) {
    return failure(Errc::kInvalid, fmt::format("BPF instruction {} reads unwritten memory", at));
  }
  return {};
}

std::string action_text(std::uint32_t action) {
  const std::uint32_t data = action & SECCOMP_RET_DATA;
  switch (action & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
      return "allow";
    case SECCOMP_RET_ERRNO:
      if (data == 0) return "success";
      if (const char* name = strerrorname_np(static_cast<int>(data))) {
        return std::string("errno ") + name;
      }
      return fmt::format("errno {}", data);
    case SECCOMP_RET_KILL_PROCESS:
      return "kill process";
    case SECCOMP_RET_KILL_THREAD:
      return "kill thread";
    case SECCOMP_RET_TRAP:
      return "trap";
    case SECCOMP_RET_TRACE:
      return "trace";
    case SECCOMP_RET_LOG:
      return "log";
    case SECCOMP_RET_USER_NOTIF:
      return "notify";
    default:
      return fmt::format("action {:#x}", action);
  }
}

std::string disassemble(const Program& program) {
  std::string text;
  for (std::size_t at = 0; at < program.size(); ++at) {
    text += fmt::format("{:4}: {}\n", at, instruction_text(program[at], at));
  }
  return text;
}

}  // namespace guard::seccomp
