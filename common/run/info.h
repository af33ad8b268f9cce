// One run as a list shows it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/run/result.h"

namespace guard::run {

using WallTime = std::chrono::system_clock::time_point;

enum class State : std::uint8_t {
  kStarting,  // the program has not been executed yet
  kRunning,
  kFinished,  // no process of it exists
};
std::string_view name_of(State state);  // "starting", …

// Of the arguments a list shows no more: they may be megabytes.
inline constexpr std::size_t kShownArgBytes = 512;

struct Info {
  std::string run_id;
  State state = State::kStarting;
  std::vector<std::string> args;  // any bytes; the beginning, at most kShownArgBytes together
  bool args_truncated = false;
  std::optional<WallTime> started_at;  // none: the program was not executed
  pid_t pid = 0;                       // of the program; 0 unless running
  std::optional<RunResult> result;     // when finished
  std::optional<WallTime> finished_at;
  friend bool operator==(const Info&, const Info&) = default;
};

// Sets `args` and `args_truncated` from the whole list.
void show_args(Info& info, const std::vector<std::string>& args);

}  // namespace guard::run
