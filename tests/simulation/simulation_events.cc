// What interferes with a pool from outside: its backends, operators, reloads, the clock, the end.
#include <algorithm>
#include <memory>

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

// Another configuration of the same pool; at times one listener goes and another comes.
void Simulation::reload() {
  upstream::PoolOptions options = pool_->options();
  draw_again(rng_, options);
  trace("reload: {} active, {} pending, {}", options.resilience.admission.max_active,
        options.resilience.admission.max_pending, name(options.balance));
  if (options.backends.size() > 1 && rng_.below(2) == 0) {
    remove_and_add(rng_.below(options.backends.size()), options);
  }
  replace_pool(options);

  if (rng_.below(2) == 0) return;
  const std::size_t which = rng_.below(listening_.size());
  pool_->admission().retire(&generations_[listening_[which]]);
  admission_books_.retire(listening_[which]);
  trace("listener {} goes", listening_[which]);
  listening_[which] = generations_.size();
  generations_.push_back(0);
}

// The books follow: limits at once, thresholds with the circuits' state kept.
void Simulation::replace_pool(const upstream::PoolOptions& options) {
  pool_ = upstream::Pool::reload(pool_, options, now_);
  edition_ = std::make_shared<Edition>(pool_);
  hashed_.clear();
  admission_books_.set_limits(options.resilience.admission);
  const auto excess = [](std::uint64_t active, std::uint64_t most) {
    return most != 0 && active > most ? active - most : 0;
  };
  excess_ = excess(pool_->admission().active(), options.resilience.admission.max_active);
  for (std::size_t place = 0; place < active_.size(); ++place) {
    excesses_[place] =
        static_cast<std::uint32_t>(excess(active_[place], options.backends[place].max_active));
    circuits_[place].retuned(options.resilience.circuit);
  }
}

// Out of the configuration, and back in before the next step. While it has sessions it is the same
// again; else it begins anew, and who still dials by an older configuration has it no more.
void Simulation::remove_and_add(std::size_t place, const upstream::PoolOptions& options) {
  upstream::PoolOptions without = options;
  without.backends.erase(without.backends.begin() + static_cast<std::ptrdiff_t>(place));
  const auto before = pool_->backends()[place];
  const auto between = upstream::Pool::reload(pool_, without, now_);
  check(!before->takes_sessions(), "a backend that was removed takes sessions");
  pool_ = upstream::Pool::reload(between, options, now_);
  const bool same = pool_->backends()[place] == before;
  trace("backend {} goes and comes back, {}", place, same ? "the same" : "anew");
  check(same == (active_[place] > 0),
        "whether a backend is the same is not whether it had sessions");
  pool_->state().forget_deserted(now_);
  ++(same ? seen_.came_back : seen_.began_anew);
  if (same) return;
  circuits_[place].check_at_rest();
  remember(circuits_[place]);
  std::destroy_at(&circuits_[place]);
  std::construct_at(&circuits_[place], pool_->backend(place).circuit(), options.resilience.circuit,
                    seeds_.next(), laws_);
  circuits_[place].clock(now_, false);
  circuits_[place].backend_turned(answers_[place].prompt());
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
