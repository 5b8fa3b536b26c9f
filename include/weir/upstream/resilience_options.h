#pragma once

#include <cstdint>

#include "weir/core/admission.h"
#include "weir/core/circuit_options.h"
#include "weir/core/retry_options.h"
#include "weir/core/time.h"

namespace weir::upstream {

// `pools[].resilience`: who may come in, who waits, and what follows a dial that failed. Validated
// by the config layer.
struct ResilienceOptions {
  core::AdmissionLimits admission;
  core::Duration pending_timeout{0};         // in the queue; 0 = bounded only by the client
  std::uint32_t max_active_per_backend = 0;  // for backends without a bound of their own; 0 = none
  core::CircuitOptions circuit;              // of each backend
  core::RetryOptions retry;
  std::uint32_t retry_budget_percent = 0;  // retries for 100 connections; 0 = any number
};

}  // namespace weir::upstream
