// Errors as values.
//
// Result<T> is std::expected<T, Error>. A function returns an Error or logs one, never both; only
// main, a gRPC method and a command report. An Error's `what` is a clause for a person in a hurry:
// lower case, no full stop, names the path, field or flag. `hint` says what to do about it.
#pragma once

#include <cerrno>
#include <cstring>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace guard {

// What the caller can do about it, not where it came from. Maps one to one onto gRPC codes
// (daemon/service) and onto exit codes (common/run/exit_code.h).
enum class Errc {
  kInvalid,        // the request contradicts itself or names something malformed
  kNotFound,       // a path or run that does not exist
  kExists,         // the id is taken by another request
  kDenied,         // the caller may not do this
  kUnsupported,    // this kernel cannot enforce what was asked
  kExhausted,      // a quota or a descriptor limit; retry later
  kUnavailable,    // no daemon, or it is draining
  kUnimplemented,  // this version cannot honour a field or method that guard.v1 has
  kInternal,       // a system call failed that should not have
};

struct Error {
  Errc code = Errc::kInternal;
  std::string what;
  int os_errno = 0;  // errno of the failed system call; 0 when none failed
  std::string hint;  // a clause too; empty when there is nothing to advise

  // "what: strerror" when a system call failed, else "what".
  std::string message() const {
    if (os_errno == 0) return what;
    return what + ": " + std::strerror(os_errno);
  }
  // Prefixes the context in which it happened: "load policy: open '/etc/x'".
  Error within(std::string_view context) && {
    what.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> failure(Errc code, std::string what, std::string hint = {}) {
  return std::unexpected(Error{code, std::move(what), 0, std::move(hint)});
}

// For the errno of the call that just failed; ENOENT becomes kNotFound, EACCES and EPERM kDenied,
// EMFILE, ENFILE, ENOMEM and EAGAIN kExhausted, ENOSYS and EOPNOTSUPP kUnsupported.
inline std::unexpected<Error> os_failure(std::string what, int error = errno) {
  Errc code = Errc::kInternal;
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      code = Errc::kNotFound;
      break;
    case EACCES:
    case EPERM:
      code = Errc::kDenied;
      break;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      code = Errc::kExhausted;
      break;
    case ENOSYS:
    case EOPNOTSUPP:
      code = Errc::kUnsupported;
      break;
    default:
      break;
  }
  return std::unexpected(Error{code, std::move(what), error, {}});
}

}  // namespace guard

#define GUARD_CONCAT_INNER(a, b) a##b
#define GUARD_CONCAT(a, b) GUARD_CONCAT_INNER(a, b)

// Returns the error of `expression` from the enclosing function, or goes on.
#define GUARD_TRY(expression)                                      \
  do {                                                             \
    if (auto guard_try_result = (expression); !guard_try_result)   \
      return std::unexpected(std::move(guard_try_result).error()); \
  } while (false)

// Declares `declaration` from the value of `expression`, or returns its error.
#define GUARD_ASSIGN(declaration, expression)                                         \
  auto GUARD_CONCAT(guard_assign_, __LINE__) = (expression);                          \
  if (!GUARD_CONCAT(guard_assign_, __LINE__))                                         \
    return std::unexpected(std::move(GUARD_CONCAT(guard_assign_, __LINE__)).error()); \
  declaration = *std::move(GUARD_CONCAT(guard_assign_, __LINE__))
