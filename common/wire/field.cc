#include "common/wire/field.h"

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "common/base/visible.h"
#include "common/wire/limits.h"

namespace guard::wire {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kNanosPerMilli = 1'000'000;

std::string at(std::string_view field, std::string_view complaint) {
  return std::string(field) + ": " + std::string(complaint);
}

}  // namespace

std::unexpected<Error> invalid(std::string_view field, std::string_view complaint,
                               std::string hint) {
  return failure(Errc::kInvalid, at(field, complaint), std::move(hint));
}

std::unexpected<Error> unimplemented(std::string_view field, std::string_view complaint,
                                     std::string hint) {
  return failure(Errc::kUnimplemented, at(field, complaint), std::move(hint));
}

std::string element(std::string_view list, int index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

Result<> check_path(std::string_view field, std::string_view path) {
  if (path.empty()) return invalid(field, "the path is empty");
  if (path.find('\0') != std::string_view::npos) return invalid(field, "the path holds a NUL byte");
  if (path.size() > kMaxPathBytes) {
    return invalid(field, "the path is " + std::to_string(path.size()) + " bytes; at most " +
                              std::to_string(kMaxPathBytes));
  }
  if (path.front() != '/') {
    return invalid(field, "'" + visible(path) + "' is not absolute",
                   "guardd does not share the caller's working directory");
  }
  return {};
}

Result<> check_env_name(std::string_view field, std::string_view name) {
  if (name.empty()) return invalid(field, "the name is empty");
  if (name.find('=') != std::string_view::npos) {
    return invalid(field, "'" + visible(name) + "' holds a '='");
  }
  if (name.find('\0') != std::string_view::npos) return invalid(field, "the name holds a NUL byte");
  return {};
}

Result<std::chrono::milliseconds> duration_from(std::string_view field,
                                                const google::protobuf::Duration& duration) {
  const std::int64_t seconds = duration.seconds();
  const std::int64_t nanos = duration.nanos();
  if (nanos <= -kNanosPerSecond || nanos >= kNanosPerSecond) {
    return invalid(field, "nanos are out of range");
  }
  if (seconds < 0 || nanos < 0) return invalid(field, "is negative");
  if (seconds > std::chrono::duration_cast<std::chrono::seconds>(kLongestDuration).count()) {
    return invalid(field, "is longer than " + duration_text(kLongestDuration),
                   "leave it unset for no limit");
  }
  return std::chrono::seconds(seconds) +
         std::chrono::milliseconds((nanos + kNanosPerMilli - 1) / kNanosPerMilli);
}

google::protobuf::Duration to_duration(std::chrono::microseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  google::protobuf::Duration out;
  out.set_seconds(seconds.count());
  out.set_nanos(static_cast<std::int32_t>(std::chrono::nanoseconds(duration - seconds).count()));
  return out;
}

std::string utf8_text(std::string_view text) {
  return is_utf8(text) ? std::string(text) : visible(text, Newlines::kKeep);
}

Result<> refuse_unknown_fields(std::string_view field, const google::protobuf::Message& message) {
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  if (unknown.empty()) return {};
  return unimplemented(field,
                       "has a field, number " + std::to_string(unknown.field(0).number()) +
                           ", that this guardd does not know",
                       "the client is newer than the daemon; restart guardd from the same release");
}

}  // namespace guard::wire
