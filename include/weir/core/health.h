#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/core/dial_outcome.h"
#include "weir/core/random.h"
#include "weir/core/time.h"

namespace weir::core {

// What active checks say of a backend.
enum class HealthState : std::uint8_t { healthy, unhealthy };

std::string_view name(HealthState state);

// Counts the checks of one backend: `fall` failures in a row make it unhealthy, `rise` successes in
// a row healthy again. It begins as healthy, so that a start does not wait for checks. A neutral
// verdict, where the check failed for want of something of ours, is no check at all: it neither
// counts nor breaks a row. One owner.
class Health {
 public:
  Health(std::uint32_t rise, std::uint32_t fall) : rise_(rise), fall_(fall) {
    assert(rise > 0 && fall > 0);
  }

  // The state that begins with this verdict, if one does.
  std::optional<HealthState> take(Verdict verdict);

  // It was unhealthy before anybody counted here.
  void begin_unhealthy() { state_ = HealthState::unhealthy; }
  // Other thresholds from the next verdict on; the state and the row stay.
  void set_thresholds(std::uint32_t rise, std::uint32_t fall) {
    assert(rise > 0 && fall > 0);
    rise_ = rise;
    fall_ = fall;
  }

  HealthState state() const { return state_; }
  // The checks in a row that speak against the state; at `fall`, or `rise`, it turns.
  std::uint32_t against() const { return against_; }

 private:
  std::uint32_t rise_;
  std::uint32_t fall_;
  HealthState state_ = HealthState::healthy;
  std::uint32_t against_ = 0;
};

// When the checks of one backend of a pool begin, counted from the pool's start: each has a share
// of the interval to itself, and a moment of it at random, so that no two backends are checked in
// step however many there are. `turn`, in [0, 1) and at random, is the pool's: without it,
// instances that start together would check the same backend at about the same time. Answers less
// than `interval`.
Duration first_check(std::size_t place, std::size_t backends, Duration interval, double turn,
                     Rng& rng);

}  // namespace weir::core
