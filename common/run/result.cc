#include "common/run/result.h"

#include <array>
#include <utility>

namespace guard::run {
namespace {

using sandbox::Stage;

constexpr std::array kStages{
    std::pair{Stage::kNone, std::string_view("none")},
    std::pair{Stage::kSetup, std::string_view("setup")},
    std::pair{Stage::kLimits, std::string_view("limits")},
    std::pair{Stage::kCapabilities, std::string_view("capabilities")},
    std::pair{Stage::kNoNewPrivs, std::string_view("no_new_privs")},
    std::pair{Stage::kLandlock, std::string_view("landlock")},
    std::pair{Stage::kSeccomp, std::string_view("seccomp")},
    std::pair{Stage::kWitness, std::string_view("witness")},
    std::pair{Stage::kExec, std::string_view("exec")},
};

}  // namespace

std::string_view name_of(Stage stage) {
  for (const auto& [known, name] : kStages) {
    if (known == stage) return name;
  }
  return "unknown";
}

std::optional<Stage> stage_named(std::string_view wanted) {
  for (const auto& [stage, name] : kStages) {
    if (name == wanted) return stage;
  }
  return std::nullopt;
}

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::kExited:
      return "EXITED";
    case Reason::kSignaled:
      return "SIGNALED";
    case Reason::kTimeout:
      return "TIMEOUT";
    case Reason::kCancelled:
      return "CANCELLED";
    case Reason::kOutputLimit:
      return "OUTPUT_LIMIT";
    case Reason::kCpuLimit:
      return "CPU_LIMIT";
    case Reason::kMemoryLimit:
      return "MEMORY_LIMIT";
    case Reason::kOomKilled:
      return "OOM_KILLED";
    case Reason::kPolicyViolation:
      return "POLICY_VIOLATION";
    case Reason::kSpawnFailed:
      return "SPAWN_FAILED";
    case Reason::kSupervisorLost:
      return "SUPERVISOR_LOST";
    case Reason::kDaemonShutdown:
      return "DAEMON_SHUTDOWN";
  }
  return "UNKNOWN";  // a number from a newer guardd
}

}  // namespace guard::run
