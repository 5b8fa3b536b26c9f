#include "weir/core/circuit_state.h"

namespace weir::core {

std::string_view name(CircuitPhase phase) {
  switch (phase) {
    case CircuitPhase::closed:
      return "closed";
    case CircuitPhase::open:
      return "open";
    case CircuitPhase::half_open:
      return "half_open";
  }
  return {};
}

std::string_view name(TransitionCause cause) {
  switch (cause) {
    case TransitionCause::consecutive_failures:
      return "consecutive_failures";
    case TransitionCause::failure_rate:
      return "failure_rate";
    case TransitionCause::probe_started:
      return "probe_started";
    case TransitionCause::probe_succeeded:
      return "probe_succeeded";
    case TransitionCause::probe_failed:
      return "probe_failed";
    case TransitionCause::half_open_expired:
      return "half_open_expired";
    case TransitionCause::health_recovered:
      return "health_recovered";
    case TransitionCause::operator_open:
      return "operator_open";
    case TransitionCause::operator_close:
      return "operator_close";
    case TransitionCause::upgraded:
      return "upgraded";
  }
  return {};
}

bool CircuitStatus::admits() const {
  if (!enabled || bypassed) return true;
  switch (phase) {
    case CircuitPhase::closed:
      return true;
    case CircuitPhase::open:
      return probe_due;
    case CircuitPhase::half_open:
      return probes_remaining > 0;
  }
  return false;
}

}  // namespace weir::core
