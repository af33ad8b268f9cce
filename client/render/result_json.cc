#include "client/render/result_json.h"

#include "common/base/base64.h"
#include "common/base/utf8.h"
#include "common/base/visible.h"
#include "common/run/exit_code.h"

namespace guard::client {
namespace {

Json spawn_error_json(const run::SpawnError& error) {
  Json json;
  json["stage"] = run::name_of(error.stage);
  json["errno"] = error.os_errno;
  const auto [key, value] = bytes_as("path", "path_base64", error.path);
  json[key] = value;
  json["message"] = error.message;
  json["hint"] = error.hint;
  json["exit_code"] = run::exit_code_for(error);
  return json;
}

}  // namespace

std::string_view name_of(run::Stream stream) {
  switch (stream) {
    case run::Stream::kStdout:
      return "stdout";
    case run::Stream::kStderr:
      return "stderr";
    case run::Stream::kResult:
      return "result";
  }
  return "unknown";
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json::object_t::value_type bytes_as(const char* text_key, const char* base64_key,
                                    const std::string& bytes) {
  if (is_utf8(bytes)) return {text_key, bytes};
  return {base64_key, base64(bytes)};
}

Json result_json(const run::RunResult& result) {
  Json json;
  json["reason"] = run::name_of(result.reason);
  if (const auto* exited = std::get_if<run::Exited>(&result.ending)) {
    json["exit_code"] = exited->code;
  } else if (const auto* signaled = std::get_if<run::Signaled>(&result.ending)) {
    json["signal"] = signaled->signal;
  } else {
    json["spawn_error"] = spawn_error_json(std::get<run::SpawnError>(result.ending));
  }
  json["usage"] = {{"wall_us", result.usage.wall.count()},
                   {"user_us", result.usage.user.count()},
                   {"system_us", result.usage.system.count()},
                   {"max_rss_bytes", result.usage.max_rss_bytes}};
  Json streams = Json::array();
  for (const run::StreamTotal& total : result.streams) {
    streams.push_back({{"stream", name_of(total.stream)},
                       {"bytes", total.bytes},
                       {"truncated", total.truncated}});
  }
  json["streams"] = std::move(streams);
  json["killed"] = result.killed;
  json["stragglers"] = result.stragglers;
  Json discarded = Json::array();
  for (const std::string& name : result.discarded) discarded.push_back(visible(name));
  json["discarded"] = std::move(discarded);
  json["detail"] = result.detail;
  return json;
}

}  // namespace guard::client
