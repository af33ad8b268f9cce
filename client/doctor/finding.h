// One thing that `guardctl doctor` has to say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace guard::doctor {

enum class Level : std::uint8_t {
  kOk,
  kNote,     // good to know; nothing that runs today needs it
  kWarning,  // runs work, with less than they could have
  kProblem,  // runs do not work here, or not without what the fix says
};
std::string_view name_of(Level level);  // "ok", "note", "warning", "problem"

struct Finding {
  std::string id;  // stable, of docs/doctor.md: "landlock", "protection.signals"
  Level level = Level::kOk;
  std::string text;  // a clause, on one line; paths in it as they are: visible() is the renderer's
  std::string fix;   // what to do, on one line; of a problem and a warning never empty
  friend bool operator==(const Finding&, const Finding&) = default;
};

using Findings = std::vector<Finding>;

}  // namespace guard::doctor
