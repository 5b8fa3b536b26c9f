#pragma once

#include <algorithm>

#include "weir/core/random.h"
#include "weir/core/time.h"

namespace weir::core {

// The waits between the dials of one connection: full jitter (uniform from 0 up to a ceiling, so
// that clients which failed together do not come back together) under a ceiling that doubles from
// `initial` and stops at `max`. Either of them 0 = always at once.
class Backoff {
 public:
  Backoff(Duration initial, Duration max) : ceiling_(std::min(initial, max)), max_(max) {}

  Duration next(Rng& rng) {
    const auto bound = static_cast<std::uint64_t>(ceiling_.count());
    // Not `* 2` first: a ceiling over half of what a Duration holds would overflow.
    ceiling_ = ceiling_ > max_ / 2 ? max_ : ceiling_ * 2;
    return bound == 0 ? Duration::zero() : Duration(rng.below(bound + 1));
  }

 private:
  Duration ceiling_;
  Duration max_;
};

}  // namespace weir::core
