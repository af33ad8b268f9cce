// Runs as `guardctl ps` lists them.
#pragma once

#include <span>
#include <string>

#include "common/run/info.h"

namespace guard::client {

// A line with the names of the columns, then one a run. No colour, nothing that a terminal obeys.
std::string run_table(std::span<const run::Info> runs, run::WallTime now);

// One run as a line of JSON without its newline, described by docs/schema/run_info.schema.json.
// Keys are stable: a later version adds some and renames none.
std::string info_json(const run::Info& info);

}  // namespace guard::client
