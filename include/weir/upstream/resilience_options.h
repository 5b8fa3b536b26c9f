#pragma once

#include <cstdint>

#include "weir/core/admission.h"
#include "weir/core/circuit_options.h"
#include "weir/core/retry_options.h"
#include "weir/core/time.h"

namespace weir::upstream {

// Which outcome of a dial counts as the backend's success.
enum class CircuitSuccess : std::uint8_t {
  connect,     // the connection
  first_byte,  // only a first byte from the backend: it may accept and never answer
};

// `pools[].resilience`: who may come in, who waits, and what follows a dial that failed. Validated
// by the config layer.
struct ResilienceOptions {
  core::AdmissionLimits admission;
  core::Duration pending_timeout{0};         // in the queue; 0 = bounded only by the client
  std::uint32_t max_active_per_backend = 0;  // for backends without a bound of their own; 0 = none
  core::CircuitOptions circuit;              // of each backend
  CircuitSuccess circuit_success = CircuitSuccess::connect;
  // With first_byte: how long a backend may take to answer what the client has sent.
  core::Duration first_byte_timeout = std::chrono::seconds(5);
  core::RetryOptions retry;
  std::uint32_t retry_budget_percent = 0;  // retries for 100 connections; 0 = any number
  bool operator==(const ResilienceOptions&) const = default;
};

}  // namespace weir::upstream
