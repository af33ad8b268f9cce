// A command line, one argument a line: whatever the bytes, an error or a policy that is valid.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/sandbox/policy.h"
#include "common/sandbox/policy_flags.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      arguments.emplace_back();
    } else {
      arguments.back() += static_cast<char>(data[i]);
    }
  }
  guard::sandbox::PolicyFlags flags("/work");
  std::size_t index = 0;
  while (index < arguments.size()) {
    const auto taken = flags.consume(arguments, index);
    if (!taken || !*taken) return 0;
  }
  if (const auto request = flags.finish()) {
    GUARD_CHECK(guard::sandbox::validate(request->policy).has_value());
  }
  return 0;
}
