#include "client/render/json_renderer.h"

#include "client/render/result_json.h"
#include "common/sandbox/report_json.h"

namespace guard::client {
namespace {

void put_started(Json& json, const run::Started& started) {
  json["event"] = "started";
  json["report"] = Json::parse(sandbox::report_json(started.report), nullptr, false);
  json["notes"] = started.notes;
  json["attached"] = started.attached;
}

void put_output(Json& json, const run::Output& output) {
  json["event"] = "output";
  json["stream"] = name_of(output.stream);
  json["offset"] = output.offset;
  const auto [key, value] = bytes_as("text", "base64", output.data);
  json[key] = value;
}

void put_finished(Json& json, const run::RunResult& result) {
  json["event"] = "finished";
  json.update(result_json(result));
}

}  // namespace

std::string event_json(const run::Event& event) {
  Json json;
  json["event"] = "";  // first, whatever it will be
  json["run_id"] = event.run_id;
  if (const auto* started = std::get_if<run::Started>(&event.what)) put_started(json, *started);
  if (const auto* output = std::get_if<run::Output>(&event.what)) put_output(json, *output);
  if (const auto* done = std::get_if<run::Finished>(&event.what)) put_finished(json, done->result);
  return dump(json);
}

}  // namespace guard::client
