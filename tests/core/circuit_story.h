#pragma once

#include <doctest/doctest.h>

#include <vector>

#include "weir/core/circuit.h"

namespace weir::core {

// Keeps what a circuit tells.
struct TransitionLog : CircuitObserver {
  void on_transition(const Transition& transition) override { told.push_back(transition); }

  std::vector<TransitionCause> causes() const {
    std::vector<TransitionCause> causes;
    for (const Transition& transition : told) causes.push_back(transition.cause);
    return causes;
  }

  std::vector<Transition> told;
};

// A circuit with its clock, which stands still until a test moves it.
struct CircuitStory {
  explicit CircuitStory(const CircuitOptions& options = {}, std::uint64_t seed = 1)
      : circuit(options, seed, &log) {}

  Permit admit() { return circuit.admit(now); }
  bool eligible() { return circuit.eligible(now); }
  bool refused() { return !circuit.admit(now); }
  CircuitStatus status() { return circuit.status(now); }
  CircuitPhase phase() { return status().phase; }

  // One dial that is admitted and ends so.
  void succeeds() {
    Permit permit = admit();
    REQUIRE(permit);
    permit.succeed(now);
  }
  void fails() {
    Permit permit = admit();
    REQUIRE(permit);
    permit.fail(now);
  }
  void fails(int times) {
    for (int i = 0; i < times; ++i) fails();
  }
  // Fails as often as opens it, and lets the open time pass.
  void trip_until_probe_due() {
    while (phase() == CircuitPhase::closed) fails();
    now = status().open_until;
  }

  TimePoint now{std::chrono::seconds(1000)};
  TransitionLog log;
  Circuit circuit;
};

}  // namespace weir::core
