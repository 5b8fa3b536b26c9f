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

}  // namespace

// Sessions begin and end while one gauge is read after the other. The backends come first: a
// session takes its slot before its place at a backend and gives it back after, so whoever is
// counted at a backend is in the pool's count too when that is read, or has ended meanwhile. Those
// who begin meanwhile do no harm, and where clients wait, nor do those who end: their slots are
// handed on.
void Pool::read_gauges(PoolSnapshot& shown) const {
  for (std::size_t place = 0; place < backends_.size(); ++place) {
    const Backend::Occupancy taken = backends_[place]->occupancy();
    shown.backends[place].active = taken.active;
    shown.backends[place].dialing = taken.dialing;
    shown.backends[place].full = taken.full;
  }
  const core::AdmissionSnapshot admission = admission_.snapshot();
  shown.active = admission.active;
  shown.pending = admission.pending;
  shown.max_active = admission.max_active;
  shown.max_pending = admission.max_pending;
  shown.rejected = admission.rejected;
}

PoolSnapshot Pool::snapshot(core::TimePoint now) const {
  PoolSnapshot shown;
  shown.name = options_.name;
  shown.backends.resize(backends_.size());
  read_gauges(shown);
  for (int reads = 1; reads < kMostReads && !fits(shown); ++reads) {
    // The next one then begins with a fresh share of the processor's time, and is rarely broken up.
    std::this_thread::yield();
    read_gauges(shown);
  }
  shown.consistent = fits(shown);

  for (std::size_t place = 0; place < backends_.size(); ++place) {
    Backend& backend = *backends_[place];
    BackendSnapshot& each = shown.backends[place];
    each.name = backend.name();
    each.address = backend.address_text();
    each.weight = backend.options().weight;
    each.priority = backend.options().priority;
    each.circuit = backend.circuit_status(now);
    if (backend.health() != nullptr) each.health = backend.health()->status();
    each.state =
        state({.disabled = each.weight == 0,
               .unhealthy = each.health && each.health->state == core::HealthState::unhealthy,
               .circuit = each.circuit,
               .full = each.full});
    for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
      each.dials[i] = backend.dials(static_cast<core::DialOutcome>(i));
    }
  }
  for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
    shown.retries[i] = retries(static_cast<core::DialOutcome>(i));
  }
  shown.retry_budget_denied = retries_denied();
  return shown;
}

}  // namespace weir::upstream
