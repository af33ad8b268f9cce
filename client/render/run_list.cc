#include "client/render/run_list.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "client/render/result_json.h"
#include "client/render/time_text.h"
#include "common/base/base64.h"
#include "common/base/shell_quote.h"
#include "common/base/utf8.h"
#include "common/base/visible.h"

namespace guard::client {
namespace {

using Row = std::array<std::string, 5>;

std::string lower_case(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// "exit 3" and "signal 9" for programs that ended by themselves, else why they did not.
std::string state_text(const run::Info& info) {
  if (!info.result) return std::string(run::name_of(info.state));
  if (info.result->reason == run::Reason::kExited) {
    if (const auto* exited = std::get_if<run::Exited>(&info.result->ending)) {
      return fmt::format("exit {}", exited->code);
    }
  }
  if (info.result->reason == run::Reason::kSignaled) {
    if (const auto* signaled = std::get_if<run::Signaled>(&info.result->ending)) {
      return fmt::format("signal {}", signaled->signal);
    }
  }
  return lower_case(run::name_of(info.result->reason));
}

std::string span_text(const run::Info& info, run::WallTime now) {
  if (info.result) return elapsed_text(info.result->usage.wall);
  return info.started_at ? elapsed_text(now - *info.started_at) : "-";
}

Row row_of(const run::Info& info, run::WallTime now) {
  return {visible(info.run_id), state_text(info), info.pid > 0 ? std::to_string(info.pid) : "-",
          span_text(info, now), shell_join(info.args) + (info.args_truncated ? " ..." : "")};
}

}  // namespace

std::string run_table(std::span<const run::Info> runs, run::WallTime now) {
  std::vector<Row> rows{{"RUN ID", "STATE", "PID", "TIME", "COMMAND"}};
  for (const run::Info& info : runs) rows.push_back(row_of(info, now));
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += row.back() + "\n";
  }
  return text;
}

std::string info_json(const run::Info& info) {
  Json json;
  json["run_id"] = info.run_id;
  json["state"] = run::name_of(info.state);
  if (std::ranges::all_of(info.args, is_utf8)) {
    json["args"] = info.args;
  } else {
    Json& list = json["args_base64"] = Json::array();
    for (const std::string& arg : info.args) list.push_back(base64(arg));
  }
  json["args_truncated"] = info.args_truncated;
  json["pid"] = info.pid > 0 ? Json(info.pid) : Json();
  json["started_at"] = info.started_at ? Json(time_text(*info.started_at)) : Json();
  json["finished_at"] = info.finished_at ? Json(time_text(*info.finished_at)) : Json();
  json["result"] = info.result ? result_json(*info.result) : Json();
  return dump(json);
}

}  // namespace guard::client
