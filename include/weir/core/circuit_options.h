#pragma once

#include <cstdint>

#include "weir/core/time.h"

namespace weir::core {

// When a backend's circuit opens, for how long, and how it is probed. Ranges are checked when the
// configuration is loaded.
struct CircuitOptions {
  bool enabled = true;          // false = admits all and takes no verdict: the kill switch
  std::uint32_t max_fails = 1;  // this many failures in a row open the circuit; at least 1
  // How long OPEN refuses, and the bound on HALF_OPEN; more than 0.
  Duration fail_timeout = std::chrono::seconds(10);
  double jitter = 0;                   // up to this share of fail_timeout more in OPEN; 0 = none
  std::uint32_t half_open_probes = 1;  // probes in flight at most; 0 = unbounded
  Duration window{0};                  // the rate trigger looks back this far; 0 = trigger off
  double failure_rate = 0.5;           // this share of failures opens the circuit; in (0, 1]
  std::uint32_t min_samples = 20;      // fewer outcomes in the window decide nothing; at least 1
  bool operator==(const CircuitOptions&) const = default;
};

}  // namespace weir::core
