#include "client/doctor/findings.h"

#include <utility>

namespace guard::doctor {

Findings findings(const Facts& facts) {
  Findings all;
  for (auto* part :
       {kernel_findings, enforcement_findings, surroundings_findings, guardd_findings}) {
    for (Finding& finding : part(facts)) all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace guard::doctor
