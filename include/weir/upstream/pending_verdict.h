#pragma once

#include <optional>
#include <utility>

#include "weir/core/circuit.h"
#include "weir/core/dial_outcome.h"
#include "weir/upstream/dial_counters.h"

namespace weir::upstream {

// A backend has connected, but only its first byte proves it (`circuit_success: first_byte`): the
// dial's permit and its place in the totals, until that is decided. Destroyed undecided it is
// neutral, and the dial counts as connected. Move-only; one thread.
class PendingVerdict {
 public:
  PendingVerdict() = default;
  PendingVerdict(core::Permit permit, const DialCounters& counters);
  PendingVerdict(PendingVerdict&& other) noexcept
      : permit_(std::move(other.permit_)), counters_(std::exchange(other.counters_, {})) {}
  PendingVerdict& operator=(PendingVerdict&& other) noexcept {
    std::swap(permit_, other.permit_);
    std::swap(counters_, other.counters_);
    return *this;
  }
  ~PendingVerdict();

  explicit operator bool() const { return counters_.has_value(); }
  const core::Permit& permit() const { return permit_; }

  void answered(core::TimePoint now);
  // `closed_early` or `first_byte_timeout`.
  void failed(core::DialOutcome outcome, core::TimePoint now);

 private:
  void count(core::DialOutcome outcome);

  core::Permit permit_;
  std::optional<DialCounters> counters_;  // until it is decided
};

}  // namespace weir::upstream
