#include "weir/core/circuit_state.h"

#include <doctest/doctest.h>

#include <string>

using namespace weir::core;

TEST_CASE("phases of a circuit are closed, open and half_open") {
  std::string names;
  for (std::size_t i = 0; i < kCircuitPhases; ++i) {
    names += std::string(name(static_cast<CircuitPhase>(i))) + " ";
  }
  CHECK(names == "closed open half_open ");
}

TEST_CASE("the causes of a circuit's transitions are a closed list of words") {
  std::string names;
  for (std::size_t i = 0; i < kTransitionCauses; ++i) {
    names += std::string(name(static_cast<TransitionCause>(i))) + " ";
  }
  CHECK(names ==
        "consecutive_failures failure_rate probe_started probe_succeeded probe_failed "
        "half_open_expired health_recovered operator_open operator_close upgraded ");
}
