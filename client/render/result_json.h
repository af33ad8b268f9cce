// Pieces that the JSON of this folder shares.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "common/run/result.h"

namespace guard::client {

using Json = nlohmann::ordered_json;

// Ours and the kernel's words are UTF-8; a newer guardd's would be replaced, never thrown at us.
std::string dump(const Json& json);

// Under one key when the bytes are UTF-8, under the other when they are not.
Json::object_t::value_type bytes_as(const char* text_key, const char* base64_key,
                                    const std::string& bytes);

std::string_view name_of(run::Stream stream);

// How a run ended: "reason", "exit_code" or "signal" or "spawn_error", "usage", ...
Json result_json(const run::RunResult& result);

}  // namespace guard::client
