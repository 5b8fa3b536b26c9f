// What interferes with a pool from outside: its backends, operators, reloads, the clock, the end.
#include <algorithm>

#include "tests/simulation/simulation.h"

namespace weir::simulation {

using namespace std::chrono_literals;
using core::CloseReason;

void Simulation::backend_turns() {
  const std::size_t place = rng_.below(answers_.size());
  answers_[place] = draw_answer(rng_);
  circuits_[place].backend_turned(answers_[place].prompt());
  trace("backend {}: {} within {} ms, then {}", place, name(answers_[place].dial.outcome),
        answers_[place].within / 1ms, name(answers_[place].first_byte));
}

// Other limits for the same pool; at times one listener goes and another comes.
void Simulation::reload() {
  const core::AdmissionLimits limits = draw_limits(rng_);
  pool_->admission().set_limits(limits);
  admission_books_.set_limits(limits);
  const std::uint64_t active = pool_->admission().active();
  excess_ = limits.max_active != 0 && active > limits.max_active ? active - limits.max_active : 0;
  trace("reload: {} active, {} pending", limits.max_active, limits.max_pending);

  const core::CircuitOptions options = retuned(rng_, circuits_.front().options());
  for (WatchedCircuit& circuit : circuits_) circuit.set_options(options);

  if (rng_.below(2) == 0) return;
  const std::size_t which = rng_.below(listening_.size());
  pool_->admission().retire(&generations_[listening_[which]]);
  admission_books_.retire(listening_[which]);
  trace("listener {} goes", listening_[which]);
  listening_[which] = generations_.size();
  generations_.push_back(0);
}

void Simulation::order() {
  const std::size_t place = rng_.below(circuits_.size());
  WatchedCircuit& circuit = circuits_[place];
  const std::uint64_t which = rng_.below(5);
  trace("order {} for backend {}", which, place);
  if (which == 0) return circuit.force_open();
  if (which == 1) return circuit.close();
  if (which == 2) return circuit.bypass();
  circuit.automatic();
}

void Simulation::jump() {
  const core::Duration by = one_of<core::Duration>(rng_, {50ms, 500ms, 4s});
  now_ += by;
  trace("the clock jumps by {} ms", by / 1ms);
  for (WatchedCircuit& circuit : circuits_) circuit.clock(now_, true);
}

// The end of a shutdown's grace, in no particular order.
void Simulation::kill_all() {
  trace("kills {}", live_.size());
  while (!live_.empty()) leaves(*live_[rng_.below(live_.size())], CloseReason::shutdown);
}

}  // namespace weir::simulation
