#include "tests/simulation/simulation.h"

#include <algorithm>

namespace weir::simulation {

using namespace std::chrono_literals;
using core::CloseReason;
using Kind = Event::Kind;

Simulation::Simulation(std::uint64_t seed, bool trace)
    : seed_(seed),
      rng_(seed),
      core_rng_(core::Rng::mix(seed)),
      trace_(trace),
      scenario_(rng_),
      pool_(std::make_shared<upstream::Pool>(scenario_.pool, 1, seed)),
      edition_(std::make_shared<Edition>(pool_)),
      seeds_(seed),
      admission_books_(scenario_.pool.resilience.admission) {
  pool_->state().set_current(pool_);
  active_.resize(pool_->size());
  excesses_.resize(pool_->size());
  for (const auto& backend : pool_->backends()) {
    answers_.push_back(draw_answer(rng_));
    circuits_.emplace_back(backend->circuit(), scenario_.pool.resilience.circuit, seeds_.next(),
                           laws_);
    circuits_.back().clock(now_, false);
    circuits_.back().backend_turned(answers_.back().prompt());
  }
  for (std::size_t i = 0; i < 2; ++i) {
    generations_.push_back(0);
    listening_.push_back(i);
  }
  schedule_the_world();
}

Simulation::~Simulation() {
  if (!broken()) return;
  // What a broken law left behind must not hide it behind the assertions of destructors.
  for (Client& client : storage_) {
    client.selection.reset();
    client.slot.release();
  }
  if (pool_->admission().active() != 0) new std::shared_ptr<upstream::Pool>(pool_);
}

void Simulation::schedule_the_world() {
  const core::Duration pace = kLength / static_cast<std::int64_t>(scenario_.arrivals);
  for (std::uint64_t i = 0; i < scenario_.arrivals; ++i) {
    core::TimePoint at = scenario_.busy ? now_ + pace * static_cast<std::int64_t>(i) : some_time();
    // A burst: some of them in the same instant.
    if (!scenario_.busy && rng_.below(3) == 0) at = now_ + kLength / 2;
    timeline_.add(at, Kind::arrival);
  }
  const auto some = [&](std::uint64_t times, Kind kind) {
    for (std::uint64_t i = 0; i < times; ++i) timeline_.add(some_time(), kind);
  };
  some(scenario_.turns, Kind::backend_turns);
  some(scenario_.reloads, Kind::reload);
  some(scenario_.orders, Kind::order);
  some(scenario_.recoveries, Kind::recovery);
  some(scenario_.jumps, Kind::clock_jumps);
  if (scenario_.shuts_down) {
    const core::TimePoint at = now_ + kLength * 3 / 4;
    timeline_.add(at, Kind::shutdown);
    timeline_.add(at + one_of<core::Duration>(rng_, {1ms, 300ms, 10s}), Kind::kill);
  }
}

std::optional<std::string> Simulation::run() {
  while (!timeline_.empty() && !broken()) {
    const Event event = timeline_.next();
    now_ = std::max(now_, event.at);  // after a jump of the clock timers are late
    for (WatchedCircuit& circuit : circuits_) circuit.clock(now_, false);
    step(event);
    pass_on_decisions();
    check_step();
    check(timeline_.scheduled() < 100'000, "the world does not come to rest");
  }
  if (!broken()) check_at_rest();
  for (const WatchedCircuit& circuit : circuits_) remember(circuit);
  if (!broken()) return std::nullopt;
  return fmt::format("seed {} ({}): {}", seed_, name(scenario_.pool.balance), *laws_.broken());
}

void Simulation::remember(const WatchedCircuit& circuit) {
  seen_.stale += circuit.model().status().stale_results;
  for (const core::Transition& told : circuit.model().told()) seen_.causes.insert(told.cause);
}

void Simulation::step(const Event& event) {
  switch (event.kind) {
    case Kind::arrival:
      return arrive();
    case Kind::backend_turns:
      return backend_turns();
    case Kind::reload:
      return reload();
    case Kind::order:
      return order();
    case Kind::recovery:
      return circuits_[rng_.below(circuits_.size())].recovered();
    case Kind::clock_jumps:
      return jump();
    case Kind::shutdown:
      trace("shuts down");
      pool_->admission().shut_down();
      return admission_books_.shut_down();
    case Kind::kill:
      return kill_all();
    case Kind::client_leaves:
    case Kind::told:
    case Kind::pending_timeout:
    case Kind::choose:
    case Kind::dial_ends:
    case Kind::first_byte:
    case Kind::relay_ends:
      break;
  }
  Client& client = *clients_[event.client];
  if (!client.over()) step_client(client, event);
}

void Simulation::step_client(Client& client, const Event& event) {
  const bool queued = client.stage == Client::Stage::queued;
  if (event.kind == Kind::client_leaves) {
    return leaves(client, queued ? CloseReason::client_left_queue : CloseReason::client_closed);
  }
  if (event.kind == Kind::told) return queued ? told(client) : void();
  if (event.kind == Kind::pending_timeout) {
    return queued ? leaves(client, CloseReason::pending_timeout) : void();
  }
  if (event.turn != client.turn) return;
  if (event.kind == Kind::choose) return choose(client);
  if (event.kind == Kind::dial_ends) return dial_ends(client);
  if (event.kind == Kind::first_byte) return first_byte(client);
  end(client, one_of(rng_, {CloseReason::client_closed, CloseReason::backend_closed,
                            CloseReason::client_reset, CloseReason::idle_timeout}));
}

void Simulation::print(std::string_view text) const {
  const auto since = now_.time_since_epoch() - 1h;
  fmt::print("{:12.3f} {}\n", std::chrono::duration<double, std::milli>(since).count(), text);
}

}  // namespace weir::simulation
