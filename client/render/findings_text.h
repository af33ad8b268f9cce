// Findings of `guardctl doctor`, for people.
#pragma once

#include <string>

#include "client/doctor/finding.h"
#include "client/render/terminal.h"

namespace guard::client {

// A line a finding, behind it its fix on a line of its own. Marks are symbols where `style` has
// them, else words that a pipe and every terminal takes.
std::string findings_text(const doctor::Findings& findings, TextStyle style);

}  // namespace guard::client
