#pragma once

#include <cassert>
#include <utility>

#include "weir/core/time.h"

namespace weir::core {

// Leave to dial one backend. It ends with one verdict at most, succeed() or fail(); destroyed
// without one it is neutral and decides nothing. Move-only; a moved-from permit is empty.
class Permit {
 public:
  Permit() = default;
  Permit(Permit&& other) noexcept : live_(std::exchange(other.live_, false)) {}
  Permit& operator=(Permit&& other) noexcept {
    live_ = std::exchange(other.live_, false);
    return *this;
  }
  ~Permit() = default;

  void succeed() { end(); }
  void fail() { end(); }
  explicit operator bool() const { return live_; }

 private:
  friend class Circuit;
  explicit Permit(bool live) : live_(live) {}

  void end() {
    assert(live_);
    live_ = false;
  }

  bool live_ = false;
};

// Whether a backend that failed may be dialled again. Shared by all workers.
// When failures shut a backend out, and which dial probes it, is decided in admit() and the
// permits' verdicts.
class Circuit {
 public:
  // Whether admit() would grant; looking claims nothing.
  bool eligible(TimePoint /*now*/) const { return true; }

  // An empty permit would be a refusal: choose again without this backend.
  [[nodiscard]] Permit admit(TimePoint /*now*/) { return Permit(true); }
};

}  // namespace weir::core
