#include <numeric>

#include "admin/json.h"
#include "admin/moments.h"

namespace weir::admin {
namespace {

Json when(const Snapshot& snapshot, core::TimePoint moment) {
  return text(time_of_day(snapshot, moment));
}

Json totals(const Snapshot::Backend& backend) {
  auto failures = backend.dials;
  failures[static_cast<std::size_t>(core::DialOutcome::connected)] = 0;
  return {
      {"dials", std::accumulate(backend.dials.begin(), backend.dials.end(), std::uint64_t{0})},
      {"connected", backend.dials_that(core::DialOutcome::connected)},
      {"failures", counts<core::DialOutcome>(failures)},
      {"stale_results", backend.circuit.stale_results},
  };
}

}  // namespace

// Ranges that were never met are left out.
Json to_json(const core::HistogramCounts& times) {
  Json ranges = Json::array();
  for (std::size_t i = 0; i < times.counts.size(); ++i) {
    if (times.counts[i] == 0) continue;
    const bool bounded = i < core::kHistogramBounds.size();
    const double bound =
        bounded ? std::chrono::duration<double>(core::kHistogramBounds[i]).count() : 0;
    ranges.push_back({{"up_to_s", bounded ? Json(bound) : Json()}, {"count", times.counts[i]}});
  }
  return {{"count", times.total()}, {"sum_us", times.microseconds}, {"ranges", std::move(ranges)}};
}

// In other phases a circuit still knows its last deadlines, which would mislead whoever reads them.
Json to_json(const core::CircuitStatus& circuit, const Snapshot& snapshot) {
  const bool open = circuit.phase == core::CircuitPhase::open && !circuit.forced_open;
  const bool half_open = circuit.phase == core::CircuitPhase::half_open;
  const bool bounded = circuit.probes_remaining != core::CircuitStatus::kUnbounded;
  return {
      {"phase", name(circuit.phase)},
      {"epoch", circuit.epoch},
      {"fails", circuit.fails},
      {"open_until", open ? when(snapshot, circuit.open_until) : Json()},
      {"half_open_until", half_open ? when(snapshot, circuit.half_open_until) : Json()},
      {"probes_in_flight", circuit.probes_in_flight},
      {"probes_remaining", bounded ? Json(circuit.probes_remaining) : Json()},
      {"bypassed", circuit.bypassed},
      {"forced_open", circuit.forced_open},
      {"enabled", circuit.enabled},
      {"probe_due", circuit.probe_due},
      {"rejects", circuit.rejects},
      {"transitions", counts<core::CircuitPhase>(circuit.transitions)},
  };
}

Json to_json(const upstream::HealthStatus& health, const Snapshot& snapshot) {
  return {
      {"state", name(health.state)},
      {"consecutive", health.consecutive},
      {"checks", counts<core::DialOutcome>(health.checks)},
      {"last", health.last ? Json(name(*health.last)) : Json()},
      {"last_at", health.last ? when(snapshot, health.last_at) : Json()},
  };
}

Json to_json(const Snapshot::Backend& backend, const Snapshot& snapshot) {
  const bool ends = backend.drain_until != core::kNever;
  return {
      {"name", backend.name},
      {"address", backend.address},
      {"weight", backend.weight},
      {"priority", backend.priority},
      {"state", name(backend.state)},
      {"active", backend.active},
      {"dialing", backend.dialing},
      {"max_active", backend.max_active},
      {"drain_until", ends ? when(snapshot, backend.drain_until) : Json()},
      {"removed", backend.removed},
      {"circuit", to_json(backend.circuit, snapshot)},
      {"health", backend.health ? to_json(*backend.health, snapshot) : Json()},
      {"totals", totals(backend)},
  };
}

Json to_json(const Snapshot::Pool& pool, const Snapshot& snapshot) {
  Json backends = Json::array();
  for (const Snapshot::Backend& each : pool.backends) backends.push_back(to_json(each, snapshot));
  const Why reasons = why(pool, snapshot);
  return {
      {"name", pool.name},
      {"balance", name(pool.balance)},
      {"verdict", name(reasons.verdict)},
      {"admission",
       {{"active", pool.active},
        {"pending", pool.pending},
        {"max_active", pool.max_active},
        {"max_pending", pool.max_pending},
        {"rejected", counts<core::CloseReason>(pool.rejected)}}},
      {"eligible", reasons.eligible},
      {"consistent", pool.consistent},
      {"retries", counts<core::DialOutcome>(pool.retries)},
      {"retry_budget_denied", pool.retry_budget_denied},
      {"dial_times", to_json(pool.dial_times)},
      {"queue_times", to_json(pool.queue_times)},
      {"totals",
       {{"dials", counts<core::DialOutcome>(pool.totals.dials)},
        {"transitions", counts<core::CircuitPhase>(pool.totals.transitions)},
        {"checks", counts<core::DialOutcome>(pool.totals.checks)}}},
      {"backends", std::move(backends)},
  };
}

Json health_to_json(const Snapshot::Pool& pool, const Snapshot& snapshot) {
  Json backends = Json::array();
  for (const Snapshot::Backend& each : pool.backends) {
    backends.push_back({{"name", each.name},
                        {"state", name(each.state)},
                        {"circuit", to_json(each.circuit, snapshot)}});
  }
  const Why reasons = why(pool, snapshot);
  return {{"name", pool.name},
          {"verdict", name(reasons.verdict)},
          {"eligible", reasons.eligible},
          {"backends", std::move(backends)}};
}

Json to_json(const Why& why, const std::string& pool) {
  Json backends = Json::array();
  for (const BackendWhy& each : why.backends) {
    backends.push_back({
        {"name", each.name},
        {"priority", each.priority},
        {"eligible", !each.gate},
        {"gate", each.gate ? Json(name(*each.gate)) : Json()},
        {"state", name(each.state)},
        {"until", each.until ? Json(text(*each.until)) : Json()},
        {"hint", each.hint.empty() ? Json() : Json(each.hint)},
    });
  }
  return {{"pool", pool}, {"verdict", name(why.verdict)}, {"backends", std::move(backends)}};
}

}  // namespace weir::admin
