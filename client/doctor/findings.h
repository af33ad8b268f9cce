// Facts → findings. Pure: no file, no system call, no clock.
//
// What would be enforced is never judged here: it is what sandbox::compile() says of the default
// policy on this kernel, which is what guardd compiles runs with.
#pragma once

#include "client/doctor/facts.h"
#include "client/doctor/finding.h"

namespace guard::doctor {

// All of them, those that are fine too, in the order in which a reader needs them.
Findings findings(const Facts& facts);

// The parts, each in a file of its own.
Findings kernel_findings(const Facts& facts);
Findings enforcement_findings(const Facts& facts);
Findings surroundings_findings(const Facts& facts);
Findings guardd_findings(const Facts& facts);

// Of what kind the surroundings are; empty: none that is known.
std::string container_of(const SurroundingsFacts& surroundings);  // "docker", "kubernetes", …
enum class Machine : std::uint8_t { kPlain, kWsl1, kWsl2, kGvisor };
Machine machine_of(const KernelFacts& kernel);

}  // namespace guard::doctor
