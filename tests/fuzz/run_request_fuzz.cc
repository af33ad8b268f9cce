// What a client sends: whatever the bytes, a request is refused or becomes a Spec that holds its
// own promises.
#include <cstddef>
#include <cstdint>

#include "common/base/check.h"
#include "common/run/spec.h"
#include "common/wire/run_request.h"
#include "guard/v1/run.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  guard::v1::RunRequest request;
  if (!request.ParseFromArray(data, static_cast<int>(size))) return 0;
  if (const auto spec = guard::wire::spec_from(request)) {
    GUARD_CHECK(guard::run::validate(*spec).has_value());
  }
  return 0;
}
