#pragma once

#include <cstdint>
#include <string_view>

#include "weir/core/circuit_state.h"

namespace weir::upstream {

// Whether a backend takes new sessions, or the first gate that keeps them away: one closed list,
// the same words in the API and the exit snapshot. The order of the gates is that of selection:
// administrative, discovery, active health, circuit, capacity.
enum class BackendState : std::uint8_t {
  available,
  circuit_open,
  circuit_half_open,
  health_unhealthy,
  at_capacity,
  draining,
  disabled,
};

std::string_view name(BackendState state);

// What the gates say of one backend at one moment. (Discovery comes between the first two, when
// there is any.)
struct Gates {
  bool disabled = false;          // by an operator, or by weight 0
  bool draining = false;          // by an operator, or gone from the configuration
  bool unhealthy = false;         // by its active checks
  core::CircuitStatus circuit{};  // refuses while it admits nobody
  bool full = false;              // at its limit
};

BackendState state(const Gates& gates);

}  // namespace weir::upstream
