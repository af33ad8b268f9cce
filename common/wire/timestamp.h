// google.protobuf.Timestamp ⇄ the system clock.
#pragma once

#include <chrono>

#include <google/protobuf/timestamp.pb.h>

namespace guard::wire {

using TimePoint = std::chrono::system_clock::time_point;

google::protobuf::Timestamp to_timestamp(TimePoint at);

// For a client. What no clock of ours can hold becomes the nearest that it can.
TimePoint time_from(const google::protobuf::Timestamp& timestamp);

}  // namespace guard::wire
