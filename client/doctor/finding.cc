#include "client/doctor/finding.h"

#include <utility>

namespace guard::doctor {

std::string_view name_of(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kNote:
      return "note";
    case Level::kWarning:
      return "warning";
    case Level::kProblem:
      return "problem";
  }
  std::unreachable();
}

}  // namespace guard::doctor
