#include "weir/upstream/backend_state.h"

#include <doctest/doctest.h>

#include <string>

using namespace weir;
using namespace weir::upstream;
using core::CircuitPhase;
using core::CircuitStatus;

namespace {

CircuitStatus in(CircuitPhase phase) {
  CircuitStatus circuit;
  circuit.phase = phase;
  return circuit;
}

}  // namespace

TEST_CASE("the words for what keeps sessions away from a backend are those of the API") {
  std::string words;
  for (int i = 0; i <= static_cast<int>(BackendState::disabled); ++i) {
    words += std::string(name(static_cast<BackendState>(i))) + ' ';
  }
  CHECK(words ==
        "available circuit_open circuit_half_open health_unhealthy at_capacity draining disabled ");
}

TEST_CASE("a backend's state is the first gate that refuses it") {
  CHECK(state({}) == BackendState::available);
  CHECK(state({.full = true}) == BackendState::at_capacity);
  CHECK(state({.circuit = in(CircuitPhase::open)}) == BackendState::circuit_open);
  CHECK(state({.circuit = in(CircuitPhase::half_open)}) == BackendState::circuit_half_open);
  CHECK(state({.circuit = in(CircuitPhase::open), .full = true}) == BackendState::circuit_open);
  CHECK(state({.unhealthy = true, .circuit = in(CircuitPhase::open), .full = true}) ==
        BackendState::health_unhealthy);
  CHECK(state({.disabled = true, .unhealthy = true}) == BackendState::disabled);
  CHECK(state({.disabled = true, .circuit = in(CircuitPhase::open), .full = true}) ==
        BackendState::disabled);
}

TEST_CASE("a circuit that would let the next client try its backend is no gate") {
  CircuitStatus due = in(CircuitPhase::open);
  due.probe_due = true;
  CHECK(state({.circuit = due}) == BackendState::available);
  CircuitStatus probing = in(CircuitPhase::half_open);
  probing.probes_remaining = 1;
  CHECK(state({.circuit = probing}) == BackendState::available);
  probing.probes_remaining = CircuitStatus::kUnbounded;
  CHECK(state({.circuit = probing}) == BackendState::available);
  CircuitStatus bypassed = in(CircuitPhase::open);
  bypassed.bypassed = true;
  CHECK(state({.circuit = bypassed}) == BackendState::available);
  CircuitStatus off = in(CircuitPhase::open);
  off.enabled = false;
  CHECK(state({.circuit = off, .full = true}) == BackendState::at_capacity);
}
