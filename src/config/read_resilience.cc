#include "config/read_resilience.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace weir::config {
namespace {

using upstream::ResilienceOptions;

void read_admission(const Mapping& mapping, Source& source, core::Duration shutdown_deadline,
                    ResilienceOptions& options) {
  const Outcome active = mapping.integer("max_active_requests", options.admission.max_active);
  const Outcome pending = mapping.integer("max_pending_requests", options.admission.max_pending);
  mapping.integer("max_active_per_backend", options.max_active_per_backend);
  const Outcome timeout = mapping.duration("pending_timeout", options.pending_timeout);

  const bool queue = pending == Outcome::read && options.admission.max_pending > 0;
  if (queue && active != Outcome::wrong && options.admission.max_active == 0) {
    const Scalar written = *mapping.scalar("max_pending_requests");
    source.error(written.at, written.path,
                 fmt::format("a queue of {} without a limit to wait for (allowed: 0, or "
                             "max_active_requests above 0)",
                             written.text));
  }
  if (timeout == Outcome::read && shutdown_deadline != core::Duration::zero() &&
      options.pending_timeout > shutdown_deadline) {
    const Scalar written = *mapping.scalar("pending_timeout");
    source.error(written.at, written.path,
                 fmt::format("{} is longer than shutdown.deadline (allowed: at most that)",
                             in_quotes(written.text)));
  }
  if (queue && options.admission.max_active != 0 && timeout != Outcome::wrong &&
      options.pending_timeout == core::Duration::zero()) {
    const Scalar written = *mapping.scalar("max_pending_requests");
    source.warning(written.at, written.path,
                   "a queue without pending_timeout: who waits in it is bounded by the client's "
                   "patience alone");
  }
}

bool read_circuit(const Mapping& mapping, core::CircuitOptions& circuit) {
  const Outcome outcomes[] = {
      mapping.boolean("circuit_enabled", circuit.enabled),
      mapping.integer("max_fails", circuit.max_fails),
      mapping.duration("fail_timeout", circuit.fail_timeout),
      mapping.fraction("circuit_jitter", circuit.jitter),
      mapping.integer("circuit_half_open_probes", circuit.half_open_probes),
      mapping.duration("circuit_window", circuit.window),
      mapping.fraction("circuit_failure_rate", circuit.failure_rate),
      mapping.integer("circuit_min_samples", circuit.min_samples),
  };
  return std::find(std::begin(outcomes), std::end(outcomes), Outcome::wrong) == std::end(outcomes);
}

// With a verdict by the connection alone, a bound on the first byte would bound nothing.
bool read_verdict(const Mapping& mapping, Source& source, ResilienceOptions& options) {
  const Outcome success =
      mapping.choice("circuit_success", options.circuit_success, kCircuitSuccesses);
  const Outcome timeout = mapping.duration("first_byte_timeout", options.first_byte_timeout);
  if (timeout == Outcome::read && success != Outcome::wrong &&
      options.circuit_success != upstream::CircuitSuccess::first_byte) {
    const Scalar written = *mapping.scalar("first_byte_timeout");
    source.error(written.at, written.path,
                 "is of no effect with circuit_success: connect (allowed: with circuit_success: "
                 "first_byte)");
  }
  return success != Outcome::wrong && timeout != Outcome::wrong;
}

// Where a single failure decides for all, and where no probe can ever be in time.
void check_circuit(const Mapping& mapping, const Mapping& resilience, Source& source,
                   const upstream::PoolOptions& pool) {
  const core::CircuitOptions& circuit = pool.resilience.circuit;
  if (!circuit.enabled) return;
  const auto warn = [&](const char* name, const std::string& message) {
    const Node* written = resilience.find(name);
    const Position at = written                ? written->at
                        : resilience.present() ? resilience.at()
                                               : mapping.at();
    source.warning(at, resilience.path_of(name), message);
  };
  const auto takers = std::count_if(pool.backends.begin(), pool.backends.end(),
                                    [](const auto& backend) { return backend.weight != 0; });
  if (circuit.max_fails == 1 && takers == 1) {
    warn("max_fails", fmt::format("1 in a pool of one: a single failed dial refuses every client "
                                  "for {} (set it higher, or circuit_enabled: false)",
                                  core::seconds_text(circuit.fail_timeout)));
  } else if (circuit.max_fails == 1 && circuit.window != core::Duration::zero()) {
    warn("circuit_window",
         "with max_fails 1 the first failure opens the circuit, and the rate never decides (set "
         "max_fails higher)");
  }
  if (circuit.fail_timeout < pool.timeouts.connect) {
    warn("fail_timeout", fmt::format("{} is less than timeouts.connect: a probe that takes longer "
                                     "comes too late to bring its backend back",
                                     core::seconds_text(circuit.fail_timeout)));
  }
  if (pool.resilience.circuit_success != upstream::CircuitSuccess::first_byte) return;
  if (circuit.fail_timeout < pool.resilience.first_byte_timeout) {
    warn("first_byte_timeout",
         fmt::format("{} is longer than fail_timeout: a probe whose first byte takes longer than "
                     "that comes too late to bring its backend back",
                     core::seconds_text(pool.resilience.first_byte_timeout)));
  }
  if (pool.timeouts.idle != core::Duration::zero() &&
      pool.timeouts.idle <= pool.resilience.first_byte_timeout) {
    warn("first_byte_timeout",
         fmt::format("{} is not reached: timeouts.idle ends a silent session before, and decides "
                     "nothing",
                     core::seconds_text(pool.resilience.first_byte_timeout)));
  }
}

// How many sessions the backends can take together; 0 = any number.
std::uint64_t reachable(const upstream::PoolOptions& pool) {
  std::uint64_t sum = 0;
  for (const upstream::BackendOptions& backend : pool.backends) {
    if (backend.weight == 0) continue;
    const std::uint32_t limit =
        backend.max_active != 0 ? backend.max_active : pool.resilience.max_active_per_backend;
    if (limit == 0) return 0;
    sum += limit;
  }
  return sum;
}

void read_retry(const Mapping& mapping, Source& source, ResilienceOptions& options) {
  core::RetryOptions& retry = options.retry;
  mapping.boolean("retry_enabled", retry.enabled);
  mapping.integer("retry_attempts", retry.attempts);
  mapping.duration("retry_deadline", retry.deadline);
  mapping.duration("retry_backoff_initial", retry.backoff_initial);
  mapping.duration("retry_backoff_max", retry.backoff_max);
  mapping.integer("retry_budget_percent", options.retry_budget_percent);
  if (!retry.enabled && options.retry_budget_percent > 0) {
    const Scalar written = *mapping.scalar("retry_budget_percent");
    source.warning(written.at, written.path,
                   "a budget for what is never done: retry_enabled is false");
  }
}

}  // namespace

bool read_resilience(const Mapping& mapping, Source& source, core::Duration shutdown_deadline,
                     ResilienceOptions& options) {
  read_admission(mapping, source, shutdown_deadline, options);
  read_retry(mapping, source, options);
  const bool verdict = read_verdict(mapping, source, options);
  return read_circuit(mapping, options.circuit) && verdict;
}

void check_resilience(const Mapping& mapping, const Mapping& resilience, Source& source,
                      const upstream::PoolOptions& pool) {
  check_circuit(mapping, resilience, source, pool);
  const Node* limit = resilience.find("max_active_per_backend");
  const std::uint64_t most = reachable(pool);
  if (limit && most != 0 && most < pool.resilience.admission.max_active) {
    source.warning(limit->at, resilience.path_of("max_active_per_backend"),
                   fmt::format("the backends take {} sessions together, less than "
                               "max_active_requests: that limit and the queue behind it are never "
                               "reached",
                               most));
  }
}

}  // namespace weir::config
