#include "common/sandbox/report_json.h"

#include <concepts>
#include <span>

#include <fmt/format.h>

#include "common/base/utf8.h"
#include "common/sandbox/report_words.h"

namespace guard::sandbox {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < have ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= have ? kDigits[group >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

// `text` is UTF-8. Control characters are escaped, U+2028 and its like too: some readers take them
// for line ends.
std::string quoted(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::size_t bytes = point.bytes == 0 ? 1 : point.bytes;
    if (point.bytes == 0) {
      json += "\\ufffd";
    } else if (point.value == '"' || point.value == '\\') {
      json += '\\';
      json += static_cast<char>(point.value);
    } else if (point.value < 0x20 || point.value == 0x7f || point.value == 0x2028 ||
               point.value == 0x2029) {
      json += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point.value));
    } else {
      json += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return json + '"';
}

std::string json_of(std::string_view text) { return quoted(text); }
std::string json_of(const std::string& text) { return quoted(text); }
std::string json_of(bool value) { return value ? "true" : "false"; }
template <std::integral T>
std::string json_of(T value) {
  return std::to_string(value);
}

std::string json_of(const ProtectionLine& line);
std::string json_of(const GrantLine& grant);

template <class T>
std::string list_of(const std::vector<T>& items) {
  std::string json = "[";
  for (const T& item : items) {
    if (json.size() > 1) json += ',';
    json += json_of(item);
  }
  return json + ']';
}

class Object {
 public:
  template <class T>
  Object& with(std::string_view name, const T& value) {
    return raw(name, json_of(value));
  }
  Object& with_path(std::string_view name, const std::string& path) {
    if (is_utf8(path)) return with(name, path);
    return with(fmt::format("{}_base64", name), base64(path));
  }
  Object& raw(std::string_view name, std::string_view json) {
    json_ += fmt::format("{}{}:{}", json_.size() > 1 ? "," : "", quoted(name), json);
    return *this;
  }
  std::string text() const { return json_ + '}'; }

 private:
  std::string json_ = "{";
};

std::string json_of(const ProtectionLine& line) {
  return Object()
      .with("name", name_of(line.protection))
      .with("status", name_of(line.status))
      .with("by", line.by)
      .with("why", line.why)
      .text();
}

std::string json_of(const GrantLine& grant) {
  return Object()
      .with_path("path", grant.path)
      .with_path("resolved", grant.resolved)
      .with("access", name_of(grant.access))
      .with("origin", name_of(grant.origin))
      .with("rights", grant.rights)
      .with("skipped", grant.skipped)
      .with("note", grant.note)
      .text();
}

}  // namespace

std::string report_json(const Report& report) {
  return Object()
      .with("level", name_of(report.level))
      .with("landlock_abi", report.landlock_abi)
      .with("landlock_abi_kernel", report.landlock_abi_kernel)
      .with("kernel", report.kernel)
      .raw("protections", list_of(report.protections))
      .raw("grants", list_of(report.grants))
      .raw("connect_ports", list_of(report.connect_ports))
      .raw("bind_ports", list_of(report.bind_ports))
      .raw("ungoverned", list_of(report.ungoverned))
      .raw("warnings", list_of(report.warnings))
      .with("env_passed", report.env_passed)
      .with("env_withheld", report.env_withheld)
      .with_path("private_home", report.private_home)
      .text();
}

}  // namespace guard::sandbox
