#include "common/wire/status_code.h"

#include <array>
#include <utility>

namespace guard::wire {
namespace {

constexpr int kDeadlineExceeded = 4;
constexpr int kInternal = 13;

constexpr std::array<std::pair<Errc, int>, 9> kCodes{{
    {Errc::kInvalid, 3},         // INVALID_ARGUMENT
    {Errc::kNotFound, 5},        // NOT_FOUND
    {Errc::kExists, 6},          // ALREADY_EXISTS
    {Errc::kDenied, 7},          // PERMISSION_DENIED
    {Errc::kExhausted, 8},       // RESOURCE_EXHAUSTED
    {Errc::kUnsupported, 9},     // FAILED_PRECONDITION
    {Errc::kUnimplemented, 12},  // UNIMPLEMENTED
    {Errc::kInternal, kInternal},
    {Errc::kUnavailable, 14},  // UNAVAILABLE
}};

// Metadata of a call is 8 KiB at most, and a byte that is not ASCII takes three of them.
constexpr std::size_t kMaxMessage = 2000;

void shorten(std::string& text) {
  if (text.size() <= kMaxMessage) return;
  text.resize(kMaxMessage);
  // Not in the midst of a UTF-8 sequence.
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0x80) text.pop_back();
  text += "...";
}

}  // namespace

Status to_status(const Error& error) {
  Status status{kInternal, error.message()};
  for (const auto& [errc, code] : kCodes) {
    if (errc == error.code) status.code = code;
  }
  if (!error.hint.empty()) status.message += "\n" + error.hint;
  shorten(status.message);
  return status;
}

Error from_status(int code, std::string_view message) {
  Error error;
  for (const auto& [errc, number] : kCodes) {
    if (number == code) error.code = errc;
  }
  if (code == kDeadlineExceeded) error.code = Errc::kUnavailable;
  const std::size_t end = message.find('\n');
  error.what = std::string(message.substr(0, end));
  if (end != std::string_view::npos) error.hint = std::string(message.substr(end + 1));
  return error;
}

}  // namespace guard::wire
