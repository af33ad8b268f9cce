#include "common/sandbox/seccomp/front.h"

#include <errno.h>

#include <map>
#include <vector>

#include "common/sandbox/seccomp/syscall_numbers.h"

namespace guard::seccomp {
namespace {

constexpr std::uint32_t kAllBits = 0xffffffff;

// The rules by number, so that each call's code is one block.
using Block = std::pair<const std::uint32_t, std::vector<const Rule*>>;
using Blocks = std::map<std::uint32_t, std::vector<const Rule*>>;

std::uint32_t all_bits(const std::vector<NamedValue>& values) {
  std::uint32_t bits = 0;
  for (const NamedValue& named : values) bits |= named.value;
  return bits;
}

// Goes to `otherwise` unless the condition holds.
void require(const Condition& condition, Assembler& code, Assembler::Label otherwise) {
  const Assembler::Label holds = code.label();
  if (condition.holds == Condition::Holds::kNotNull) {
    code.load(high_offset(condition.argument));
    code.if_any_bit(kAllBits, holds);
  }
  code.load(low_offset(condition.argument));
  if (condition.mask != kAllBits) code.mask(condition.mask);
  switch (condition.holds) {
    case Condition::Holds::kNotNull:
      code.if_equal(0, otherwise);
      break;
    case Condition::Holds::kAnyBit:
      code.if_no_bit(all_bits(condition.values), otherwise);
      break;
    case Condition::Holds::kNoneOf:
      for (const NamedValue& named : condition.values) code.if_equal(named.value, otherwise);
      break;
    case Condition::Holds::kOneOf:
      for (std::size_t i = 0; i + 1 < condition.values.size(); ++i) {
        code.if_equal(condition.values[i].value, holds);
      }
      code.if_not_equal(condition.values.back().value, otherwise);
      break;
  }
  code.bind(holds);
}

void decide(const std::vector<const Rule*>& rules, Assembler& code) {
  for (const Rule* rule : rules) {
    const Assembler::Label next = code.label();
    for (const Condition& condition : rule->when) require(condition, code, next);
    code.ret(errno_action(rule->error));
    code.bind(next);
    if (rule->when.empty()) return;  // nothing comes past it
  }
  code.ret(SECCOMP_RET_ALLOW);
}

// A binary tree over the numbers, whose leaves are the blocks. The number is loaded.
void dispatch(std::span<const Block* const> blocks, Assembler& code, Assembler::Label other) {
  if (blocks.size() == 1) {
    const Assembler::Label here = code.label();
    code.if_equal(blocks[0]->first, here);
    code.go_to(other);
    code.bind(here);
    decide(blocks[0]->second, code);
    return;
  }
  const auto lower_half = blocks.first(blocks.size() / 2);
  const Assembler::Label lower = code.label();
  const Assembler::Label upper = code.label();
  code.if_not_above(lower_half.back()->first, lower);
  code.go_to(upper);  // it may be far
  code.bind(lower);
  dispatch(lower_half, code, other);
  code.bind(upper);
  dispatch(blocks.subspan(lower_half.size()), code, other);
}

}  // namespace

bool belongs_in_front(const Rule& rule, Arch arch) {
  return !rule.when.empty() || *number_of(rule.syscall, arch) > kNewestNumberOfLibseccomp;
}

Result<Program> front(Arch arch, std::span<const Rule> rules) {
  Blocks by_number;
  for (const Rule& rule : rules) {
    by_number[static_cast<std::uint32_t>(*number_of(rule.syscall, arch))].push_back(&rule);
  }
  std::vector<const Block*> blocks;
  for (const Block& block : by_number) blocks.push_back(&block);

  Assembler code;
  const Assembler::Label native = code.label();
  const Assembler::Label known = code.label();
  const Assembler::Label other = code.label();
  code.load(kArchOffset);
  code.if_equal(audit_arch(arch), native);
  code.ret(SECCOMP_RET_KILL_PROCESS);
  code.bind(native);
  code.load(kNumberOffset);
  code.if_not_above(kNewestNumber, known);  // x32's bit 30 makes a number large, too
  code.ret(errno_action(ENOSYS));
  code.bind(known);
  if (!blocks.empty()) dispatch(blocks, code, other);
  code.bind(other);
  return code.finish();
}

}  // namespace guard::seccomp
