#include "client/render/time_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace guard::client {

using namespace std::chrono;

std::string time_text(run::WallTime at) {
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss time(floor<milliseconds>(at - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

std::string elapsed_text(nanoseconds span) {
  const auto whole = std::max(span, nanoseconds(0));
  if (whole < 1s) return fmt::format("{}ms", duration_cast<milliseconds>(whole).count());
  const auto s = duration_cast<seconds>(whole).count();
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86'400) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  return fmt::format("{}d{:02}h", s / 86'400, s / 3600 % 24);
}

}  // namespace guard::client
