// How many runs there may be at once. Each costs guardd some descriptors, the machine a monitor and
// a warden; beyond the limit a caller is told to come back, and nothing is queued.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "common/base/result.h"

namespace guard::daemon {

class Admission {
 public:
  explicit Admission(std::size_t most) : most_(most) {}
  Admission(const Admission&) = delete;

  // A place, given back when it is destroyed. Not longer-lived than the Admission.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(of_, other.of_);
      return *this;
    }
    ~Place() {
      if (of_ != nullptr) --of_->taken_;
    }

   private:
    friend class Admission;
    explicit Place(Admission* of) : of_(of) {}
    Admission* of_ = nullptr;
  };

  // kExhausted when full.
  Result<Place> admit() {
    if (taken_ == most_) {
      return failure(Errc::kExhausted, "there are " + std::to_string(most_) + " runs already",
                     "try again when one has ended");
    }
    ++taken_;
    return Place(this);
  }

  std::size_t taken() const { return taken_; }

 private:
  std::size_t most_;
  std::size_t taken_ = 0;
};

}  // namespace guard::daemon
