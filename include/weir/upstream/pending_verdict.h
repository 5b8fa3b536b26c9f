#pragma once

#include <cstddef>
#include <utility>

#include "weir/core/circuit.h"
#include "weir/core/dial_outcome.h"

namespace weir::upstream {

class Backend;

// A backend has connected, but only its first byte proves it (`circuit_success: first_byte`): the
// dial's permit and its place in the totals, until that is decided. Destroyed undecided it is
// neutral, and the dial counts as connected. Move-only; one thread.
class PendingVerdict {
 public:
  PendingVerdict() = default;
  PendingVerdict(core::Permit permit, Backend& backend, std::size_t worker);
  PendingVerdict(PendingVerdict&& other) noexcept
      : permit_(std::move(other.permit_)),
        backend_(std::exchange(other.backend_, nullptr)),
        worker_(other.worker_) {}
  PendingVerdict& operator=(PendingVerdict&& other) noexcept {
    std::swap(permit_, other.permit_);
    std::swap(backend_, other.backend_);
    std::swap(worker_, other.worker_);
    return *this;
  }
  ~PendingVerdict();

  explicit operator bool() const { return backend_ != nullptr; }
  const core::Permit& permit() const { return permit_; }

  void answered(core::TimePoint now);
  // `closed_early` or `first_byte_timeout`.
  void failed(core::DialOutcome outcome, core::TimePoint now);

 private:
  void count(core::DialOutcome outcome);

  core::Permit permit_;
  Backend* backend_ = nullptr;
  std::size_t worker_ = 0;
};

}  // namespace weir::upstream
