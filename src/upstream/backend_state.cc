#include "weir/upstream/backend_state.h"

namespace weir::upstream {

std::string_view name(BackendState state) {
  switch (state) {
    case BackendState::available:
      return "available";
    case BackendState::circuit_open:
      return "circuit_open";
    case BackendState::circuit_half_open:
      return "circuit_half_open";
    case BackendState::health_unhealthy:
      return "health_unhealthy";
    case BackendState::at_capacity:
      return "at_capacity";
    case BackendState::draining:
      return "draining";
    case BackendState::disabled:
      return "disabled";
  }
  return {};
}

BackendState state(const Gates& gates) {
  if (gates.draining) return BackendState::draining;
  if (gates.disabled) return BackendState::disabled;
  if (gates.unhealthy) return BackendState::health_unhealthy;
  if (!gates.circuit.admits()) {
    return gates.circuit.phase == core::CircuitPhase::half_open ? BackendState::circuit_half_open
                                                                : BackendState::circuit_open;
  }
  if (gates.full) return BackendState::at_capacity;
  return BackendState::available;
}

}  // namespace weir::upstream
