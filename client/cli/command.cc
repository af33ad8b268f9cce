#include "client/cli/command.h"

namespace guard::client {

int Command::exit_code_for(const Error& error) const {
  switch (error.code) {
    case Errc::kInvalid:
    case Errc::kNotFound:
    case Errc::kExists:
      return kExitBadUsage;
    default:
      return kExitInfrastructure;
  }
}

}  // namespace guard::client
