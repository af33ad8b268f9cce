// System calls that nobody makes, for filters to judge.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "common/sandbox/seccomp/filter.h"
#include "common/sandbox/seccomp/interpret.h"
#include "common/sandbox/seccomp/syscall_numbers.h"

namespace guard::seccomp {

using Arguments = std::array<std::uint64_t, 6>;

inline seccomp_data made_up_call(Arch arch, int number, const Arguments& arguments = {}) {
  seccomp_data call{};
  call.nr = number;
  call.arch = audit_arch(arch);
  for (std::size_t i = 0; i < arguments.size(); ++i) call.args[i] = arguments[i];
  return call;
}

// The filter's verdict in words: "allow", "errno EPERM", ..., or what went wrong.
inline std::string verdict(const Program& program, const seccomp_data& call) {
  const Result<std::uint32_t> action = interpret(program, call);
  return action ? action_text(*action) : action.error().message();
}

// Filters are built once a spec: libseccomp takes its time.
inline const Program& filter_for(const FilterSpec& spec) {
  static std::list<std::pair<FilterSpec, Program>> built;
  for (const auto& [known, program] : built) {
    if (known == spec) return program;
  }
  Result<Program> program = build_filter(spec);
  return built.emplace_back(spec, program ? *std::move(program) : Program{}).second;
}

inline std::string verdict(const FilterSpec& spec, std::string_view name,
                           const Arguments& arguments = {}) {
  const std::optional<int> number = number_of(name, spec.arch);
  if (!number) return "no such call";
  return verdict(filter_for(spec), made_up_call(spec.arch, *number, arguments));
}

inline constexpr Arch kBothArchs[] = {Arch::kX86_64, Arch::kAarch64};

inline void PrintTo(Arch arch, std::ostream* out) { *out << name(arch); }

}  // namespace guard::seccomp
