// Classic BPF programs for seccomp(2): a value, an assembler, the kernel's checks, and a listing.
//
// A seccomp filter reads one `struct seccomp_data` (number, architecture, instruction pointer, six
// 64-bit arguments), 32 bits at a time, and returns an action. Jumps only go forward. Both
// architectures are little-endian: the low half of an argument comes first.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace guard::seccomp {

using Program = std::vector<sock_filter>;

inline constexpr std::size_t kMaxInstructions = BPF_MAXINSNS;  // 4096, per filter

inline constexpr std::uint32_t kNumberOffset = offsetof(seccomp_data, nr);
inline constexpr std::uint32_t kArchOffset = offsetof(seccomp_data, arch);

constexpr std::uint32_t low_offset(unsigned argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * argument);
}
constexpr std::uint32_t high_offset(unsigned argument) { return low_offset(argument) + 4; }

constexpr std::uint32_t errno_action(int error) {
  return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA);
}

// Builds a program front to back. Labels are made, jumped to, then bound to a later instruction;
// one bound after the last instruction means "falls out at the end", where concatenate() goes on.
class Assembler {
 public:
  struct Label {
    std::size_t index = 0;
  };

  Label label();
  void bind(Label label);

  void load(std::uint32_t offset);  // A = 32 bits of seccomp_data
  void mask(std::uint32_t bits);    // A &= bits
  void ret(std::uint32_t action);
  // Jumps when the comparison of A holds, else goes on with the next instruction.
  void if_equal(std::uint32_t value, Label then);
  void if_not_equal(std::uint32_t value, Label then);
  void if_above(std::uint32_t value, Label then);
  void if_not_above(std::uint32_t value, Label then);
  void if_any_bit(std::uint32_t bits, Label then);
  void if_no_bit(std::uint32_t bits, Label then);
  void go_to(Label label);  // any distance; the conditional ones reach 255 instructions

  // kInternal: a label was never bound or lies backwards, or a conditional jump is too long.
  Result<Program> finish() const;

 private:
  enum class When { kTrue, kFalse, kAlways };
  struct Jump {
    std::size_t at;
    Label to;
    When when;
  };
  void jump(std::uint16_t comparison, std::uint32_t value, Label to, When when);

  Program code_;
  std::vector<Jump> jumps_;
  std::vector<std::size_t> labels_;  // position, or kUnbound
};

// `front`, which falls out at its end into `back`. The result is checked.
Result<Program> concatenate(const Program& front, const Program& back);

// What the kernel checks before it takes a filter (bpf_check_classic and seccomp_check_filter in
// its sources): length, known instructions, aligned loads within seccomp_data, forward jumps within
// the program, no read of unwritten scratch memory, a return at the end. kInvalid names the
// instruction.
Result<> check(const Program& program);

// "allow", "errno EPERM", "kill process", ...
std::string action_text(std::uint32_t action);

// One line an instruction, for people and golden files: "   3: jeq 0xc000003e, 5, 4".
std::string disassemble(const Program& program);

}  // namespace guard::seccomp
