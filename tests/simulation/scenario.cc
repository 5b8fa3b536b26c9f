#include "tests/simulation/scenario.h"

#include <fmt/format.h>

namespace weir::simulation {

using namespace std::chrono_literals;
using core::Balance;
using core::DialOutcome;
using core::Duration;
using core::Rng;

namespace {

core::RetryOptions draw_retry(Rng& rng) {
  core::RetryOptions retry;
  retry.enabled = rng.below(8) != 0;
  retry.attempts = rng.below(2) == 0 ? 0 : static_cast<int>(1 + rng.below(10));
  retry.deadline = one_of<Duration>(rng, {0s, 0s, 120ms, 1s, 4s, 30s});
  retry.backoff_initial = one_of<Duration>(rng, {0s, 0s, 10ms, 300ms, 5s});
  retry.backoff_max = one_of<Duration>(rng, {0s, 500ms, 500ms, 2s, 60s});
  return retry;
}

void draw_place(Rng& rng, upstream::BackendOptions& backend) {
  backend.weight = rng.below(8) == 0 ? 0 : one_of<std::uint32_t>(rng, {1, 1, 1, 2, 5, 256});
  backend.priority = one_of<std::uint32_t>(rng, {0, 0, 0, 1, 1, 7});
  backend.max_active = one_of<std::uint32_t>(rng, {0, 0, 0, 1, 2, 3});
}

std::vector<upstream::BackendOptions> draw_backends(Rng& rng) {
  // Rarely more than the 64 that a plan remembers without allocating.
  const std::uint64_t count = rng.below(64) == 0 ? 60 + rng.below(20) : 1 + rng.below(6);
  std::vector<upstream::BackendOptions> backends(count);
  for (std::size_t i = 0; i < count; ++i) {
    upstream::BackendOptions& backend = backends[i];
    backend.name = fmt::format("b{}", i);
    backend.address = core::parse_endpoint(fmt::format("10.0.0.{}:1", i)).endpoint;
    draw_place(rng, backend);
  }
  return backends;
}

}  // namespace

void draw_again(Rng& rng, upstream::PoolOptions& pool) {
  pool.resilience.admission = draw_limits(rng);
  pool.resilience.circuit = retuned(rng, pool.resilience.circuit);
  // Not to the hash and back: see below.
  if (pool.balance != Balance::source_hash && rng.below(4) == 0) {
    pool.balance = one_of(rng, {Balance::round_robin, Balance::least_connections,
                                Balance::random_two, Balance::first});
  }
  for (upstream::BackendOptions& backend : pool.backends) {
    if (rng.below(4) == 0) draw_place(rng, backend);
  }
}

Answer draw_answer(Rng& rng) {
  Answer answer;
  answer.first_byte =
      one_of(rng, {DialOutcome::connected, DialOutcome::connected, DialOutcome::connected,
                   DialOutcome::closed_early, DialOutcome::first_byte_timeout});
  if (rng.below(4) == 0) answer.within = one_of<Duration>(rng, {200ms, 2s, 10s});
  if (rng.below(2) == 0) return answer;
  answer.dial.outcome =
      one_of(rng, {DialOutcome::refused, DialOutcome::refused, DialOutcome::refused,
                   DialOutcome::timeout, DialOutcome::timeout, DialOutcome::timeout,
                   DialOutcome::reset, DialOutcome::unreachable, DialOutcome::tls_identity,
                   DialOutcome::tls_failed, DialOutcome::resolve_failed, DialOutcome::local_error});
  answer.dial.no_local_port = answer.dial.outcome == DialOutcome::local_error && rng.below(2) == 0;
  return answer;
}

core::AdmissionLimits draw_limits(Rng& rng) {
  return {one_of<std::uint32_t>(rng, {0, 1, 1, 2, 4, 10, 30}),
          one_of<std::uint32_t>(rng, {0, 1, 3, 10, 100})};
}

core::CircuitOptions draw_circuit(Rng& rng) {
  core::CircuitOptions circuit;
  circuit.enabled = rng.below(16) != 0;
  circuit.max_fails = one_of<std::uint32_t>(rng, {1, 1, 2, 5});
  circuit.fail_timeout = one_of<Duration>(rng, {100ms, 300ms, 1s, 3s});
  circuit.jitter = one_of(rng, {0.0, 0.25, 1.0});
  circuit.half_open_probes = one_of<std::uint32_t>(rng, {0, 1, 1, 3});
  circuit.window = one_of<Duration>(rng, {0s, 0s, 0s, 1s, 10s});
  circuit.failure_rate = one_of(rng, {0.1, 0.5, 1.0});
  circuit.min_samples = one_of<std::uint32_t>(rng, {1, 3, 10});
  return circuit;
}

// How a window is laid out anew is told in its own tests: here it stays, ends, or begins.
core::CircuitOptions retuned(Rng& rng, const core::CircuitOptions& from) {
  core::CircuitOptions circuit = draw_circuit(rng);
  if (circuit.window > 0s && from.window > 0s) circuit.window = from.window;
  return circuit;
}

Scenario::Scenario(Rng& rng) {
  // Rarely the hash, whose table takes longer to build than the rest to run.
  pool.balance = rng.below(32) == 0 ? Balance::source_hash
                                    : one_of(rng, {Balance::round_robin, Balance::least_connections,
                                                   Balance::random_two, Balance::first});
  pool.name = "orders";
  pool.backends = draw_backends(rng);
  pool.resilience.admission = draw_limits(rng);
  pool.resilience.pending_timeout = one_of<Duration>(rng, {0s, 50ms, 500ms, 5s});
  pool.resilience.circuit = draw_circuit(rng);
  pool.resilience.retry = draw_retry(rng);
  pool.timeouts.connect = one_of<Duration>(rng, {50ms, 1s, 5s});
  by_first_byte = rng.below(3) == 0;
  busy = rng.below(3) == 0;
  arrivals = busy ? 100 + rng.below(100) : 5 + rng.below(40);
  turns = rng.below(20);
  // Half of the worlds are left to themselves, where the bounds are at their tightest.
  if (rng.below(2) == 0) {
    reloads = rng.below(5);
    orders = rng.below(6);
    recoveries = rng.below(3);
  }
  if (rng.below(2) == 0) jumps = rng.below(4);
  shuts_down = rng.below(4) == 0;
}

}  // namespace weir::simulation
