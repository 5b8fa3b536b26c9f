#include "config/read_resilience.h"

#include <fmt/format.h>

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

void read_circuit(const Mapping& mapping, core::CircuitOptions& circuit) {
  mapping.boolean("circuit_enabled", circuit.enabled);
  mapping.integer("max_fails", circuit.max_fails);
  mapping.duration("fail_timeout", circuit.fail_timeout);
  mapping.fraction("circuit_jitter", circuit.jitter);
  mapping.integer("circuit_half_open_probes", circuit.half_open_probes);
  mapping.duration("circuit_window", circuit.window);
  mapping.fraction("circuit_failure_rate", circuit.failure_rate);
  mapping.integer("circuit_min_samples", circuit.min_samples);
}

// Where a single failure decides, and what a single failure decides for all.
void check_circuit(const Mapping& pool, const Mapping& mapping, Source& source,
                   const core::CircuitOptions& circuit, std::size_t backends) {
  if (!circuit.enabled || circuit.max_fails != 1) return;
  const auto place = [&](const char* name) {
    if (const Node* written = mapping.find(name)) return written->at;
    return mapping.present() ? mapping.at() : pool.at();
  };
  if (backends == 1) {
    source.warning(place("max_fails"), mapping.path_of("max_fails"),
                   fmt::format("1 in a pool of one: a single failed dial refuses every client for "
                               "{:g} s (set it higher, or circuit_enabled: false)",
                               std::chrono::duration<double>(circuit.fail_timeout).count()));
  } else if (circuit.window != core::Duration::zero()) {
    source.warning(place("circuit_window"), mapping.path_of("circuit_window"),
                   "with max_fails 1 the first failure opens the circuit, and the rate never "
                   "decides (set max_fails higher)");
  }
}

void read_retry(const Mapping& mapping, core::RetryOptions& retry) {
  mapping.boolean("retry_enabled", retry.enabled);
  mapping.integer("retry_attempts", retry.attempts);
  mapping.duration("retry_deadline", retry.deadline);
  mapping.duration("retry_backoff_initial", retry.backoff_initial);
  mapping.duration("retry_backoff_max", retry.backoff_max);
}

}  // namespace

void read_resilience(const Mapping& mapping, Source& source, core::Duration shutdown_deadline,
                     ResilienceOptions& options) {
  read_admission(mapping, source, shutdown_deadline, options);
  read_circuit(mapping, options.circuit);
  read_retry(mapping, options.retry);
}

void check_resilience(const Mapping& pool, const Mapping& mapping, Source& source,
                      const ResilienceOptions& options, std::size_t backends) {
  check_circuit(pool, mapping, source, options.circuit, backends);
  const std::uint64_t reachable = std::uint64_t{options.max_active_per_backend} * backends;
  if (reachable != 0 && reachable < options.admission.max_active) {
    const Scalar written = *mapping.scalar("max_active_per_backend");
    source.warning(written.at, written.path,
                   fmt::format("{} x {} backends is less than max_active_requests: that limit and "
                               "the queue behind it are never reached",
                               written.text, backends));
  }
}

}  // namespace weir::config
