#include "weir/upstream/pool_snapshot.h"

#include <thread>

#include "weir/upstream/pool.h"

namespace weir::upstream {
namespace {

// A read lasts a microsecond or two, and is spoilt if more sessions end within it than begin. So
// many spoilt in a row mean that something is wrong with the gauges.
constexpr int kMostReads = 100;

bool fits(const PoolSnapshot& shown) {
  std::uint64_t sum = 0;
  for (const BackendSnapshot& backend : shown.backends) sum += backend.active;
  return sum <= shown.active && shown.pending <= shown.max_pending;
}

// Sessions begin and end while one gauge is read after the other. The backends come first: a
// session takes its slot before its place at a backend and gives it back after, so whoever is
// counted at a backend is in the pool's count too when that is read, or has ended meanwhile. Those
// who begin meanwhile do no harm, and where clients wait, nor do those who end: their slots are
// handed on.
void read_gauges(const std::vector<std::shared_ptr<Backend>>& backends,
                 const core::Admission& admission, PoolSnapshot& shown) {
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const Backend::Occupancy taken = backends[i]->occupancy();
    shown.backends[i].active = taken.active;
    shown.backends[i].dialing = taken.dialing;
    shown.backends[i].full = taken.full;
  }
  const core::AdmissionSnapshot now = admission.snapshot();
  shown.active = now.active;
  shown.pending = now.pending;
  shown.max_active = now.max_active;
  shown.max_pending = now.max_pending;
  shown.rejected = now.rejected;
}

void read_backend(Backend& backend, core::TimePoint now, BackendSnapshot& shown) {
  shown.name = backend.name();
  shown.address = backend.address_text();
  shown.max_active = backend.limit();
  const Duty duty = backend.duty();
  shown.disabled = duty.disabled;
  shown.draining = duty.draining;
  shown.removed = duty.removed;
  shown.drain_until = duty.drain_until;
  shown.circuit = backend.circuit_status(now);
  if (backend.health() != nullptr) shown.health = backend.health()->status();
  shown.state =
      state({.disabled = shown.disabled || (shown.weight == 0 && !shown.removed),
             .draining = shown.draining || shown.removed,
             .unhealthy = shown.health && shown.health->state == core::HealthState::unhealthy,
             .circuit = shown.circuit,
             .full = shown.full});
}

}  // namespace

PoolSnapshot Pool::snapshot(core::TimePoint now) const {
  const std::vector<std::shared_ptr<Backend>> all = with_removed();
  PoolSnapshot shown;
  shown.name = options_.name;
  shown.balance = options_.balance;
  shown.backends.resize(all.size());
  const core::Admission& admission = state_->admission();
  read_gauges(all, admission, shown);
  for (int reads = 1; reads < kMostReads && !fits(shown); ++reads) {
    // The next one then begins with a fresh share of the processor's time, and is rarely broken up.
    std::this_thread::yield();
    read_gauges(all, admission, shown);
  }
  shown.consistent = fits(shown);

  shown.totals = state_->past();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < size()) {
      shown.backends[i].weight = options_.backends[i].weight;
      shown.backends[i].priority = options_.backends[i].priority;
    }
    read_backend(*all[i], now, shown.backends[i]);
    const BackendTotals totals = all[i]->totals(now);
    shown.backends[i].dials = totals.dials;
    shown.totals.add(totals);
  }
  for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
    shown.retries[i] = retries(static_cast<core::DialOutcome>(i));
  }
  shown.retry_budget_denied = retries_denied();
  for (std::size_t worker = 0; worker < state_->workers(); ++worker) {
    shown.dial_times.add(state_->totals(worker).dials.counts());
    shown.queue_times.add(state_->totals(worker).queue.counts());
  }
  return shown;
}

}  // namespace weir::upstream
