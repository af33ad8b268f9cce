// Errors as gRPC statuses and back, without gRPC: the codes are its numbers (grpc::StatusCode).
//
// The message of a status is the error's message; its hint follows as a second line.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace guard::wire {

struct Status {
  int code = 0;         // grpc::StatusCode
  std::string message;  // "what: strerror", then "\nhint" when there is one
};

Status to_status(const Error& error);

// The inverse, for a client. Codes that guardd never sends become kInternal (UNAVAILABLE and
// DEADLINE_EXCEEDED kUnavailable); os_errno is lost, its text is part of `what`.
Error from_status(int code, std::string_view message);

}  // namespace guard::wire
