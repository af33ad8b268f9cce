#include "common/wire/timestamp.h"

#include <algorithm>
#include <cstdint>

namespace guard::wire {

google::protobuf::Timestamp to_timestamp(TimePoint at) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
  google::protobuf::Timestamp out;
  out.set_seconds(seconds.time_since_epoch().count());
  out.set_nanos(static_cast<std::int32_t>(std::chrono::nanoseconds(at - seconds).count()));
  return out;
}

TimePoint time_from(const google::protobuf::Timestamp& timestamp) {
  constexpr std::int64_t kFarthest = 9'000'000'000;  // the year 2255; 64 bits of nanoseconds
  const auto seconds = std::clamp<std::int64_t>(timestamp.seconds(), -kFarthest, kFarthest);
  const auto nanos = std::clamp<std::int32_t>(timestamp.nanos(), 0, 999'999'999);
  return TimePoint(std::chrono::seconds(seconds)) +
         std::chrono::duration_cast<TimePoint::duration>(std::chrono::nanoseconds(nanos));
}

}  // namespace guard::wire
