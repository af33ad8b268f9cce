// Small readers of single fields, shared by the parsers of this folder. Every error names the field
// as the proto spells it: "policy.allow_read[2].path".
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>

#include "common/base/result.h"

namespace guard::wire {

std::unexpected<Error> invalid(std::string_view field, std::string_view complaint,
                               std::string hint = {});
// kUnimplemented: guard.v1 has the field, this daemon cannot honour it.
std::unexpected<Error> unimplemented(std::string_view field, std::string_view complaint,
                                     std::string hint = {});

// "allow_read", 2 → "allow_read[2]".
std::string element(std::string_view list, int index);

// A path as the kernel takes it: not empty, no NUL, absolute, at most kMaxPathBytes.
Result<> check_path(std::string_view field, std::string_view path);

// The name of an environment variable: not empty, no '=', no NUL.
Result<> check_env_name(std::string_view field, std::string_view name);

// In the range protobuf allows, not negative, at most ten years. Rounded up to a whole millisecond.
Result<std::chrono::milliseconds> duration_from(std::string_view field,
                                                const google::protobuf::Duration& duration);

google::protobuf::Duration to_duration(std::chrono::microseconds duration);

// For a `string` field, which must be UTF-8 or its receiver refuses the whole message: the text,
// made visible when it is not.
std::string utf8_text(std::string_view text);

// A field that this build does not know may be a protection that a newer client relies on: it is
// refused, never skipped.
Result<> refuse_unknown_fields(std::string_view field, const google::protobuf::Message& message);

}  // namespace guard::wire
