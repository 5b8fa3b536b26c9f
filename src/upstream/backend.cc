#include "weir/upstream/backend.h"

#include <utility>

#include "upstream/circuit_journal.h"

namespace weir::upstream {

template <typename Change>
bool Backend::update(const Change& change) {
  Places before = places();
  Places after;
  do {
    after = before;
    if (!change(after)) return false;
    // Release, for occupancy().
  } while (!places_.compare_exchange_weak(before, after, std::memory_order_release,
                                          std::memory_order_relaxed));
  return true;
}

BackendLease::~BackendLease() {
  if (backend_ == nullptr) return;
  backend_->update([this](Backend::Places& places) {
    if (alone_) {
      --places.alone;
    } else {
      --places.active;
    }
    return true;
  });
}

bool BackendLease::go_alone() {
  alone_ = backend_->update([](Backend::Places& places) {
    if (places.alone != 0) return false;
    --places.active;
    ++places.alone;
    return true;
  });
  return alone_;
}

namespace {

std::uint32_t limit_of(const BackendOptions& options, const ResilienceOptions& resilience) {
  return options.max_active != 0 ? options.max_active : resilience.max_active_per_backend;
}

template <std::size_t size>
void add_up(std::array<std::uint64_t, size>& sum, const std::array<std::uint64_t, size>& other) {
  for (std::size_t i = 0; i < size; ++i) sum[i] += other[i];
}

}  // namespace

void BackendTotals::add(const BackendTotals& other) {
  add_up(dials, other.dials);
  add_up(transitions, other.transitions);
  add_up(checks, other.checks);
}

Backend::Backend(const BackendOptions& options, const ResilienceOptions& resilience,
                 const std::string& pool, std::uint64_t seed, std::size_t workers,
                 const std::optional<HealthOptions>& health, net::Journal* journal)
    : name_(options.name),
      endpoint_(options.address),
      address_text_(endpoint_.text()),
      address_(net::SocketAddress::from(endpoint_)),
      limit_(limit_of(options, resilience)),
      journal_(std::make_unique<CircuitJournal>(pool, name_, journal)),
      circuit_(resilience.circuit, seed, journal_.get()),
      health_(health, circuit_, pool, name_, journal),
      workers_(workers),
      totals_(std::make_unique<WorkerTotals[]>(workers)) {}

void Backend::retune(const BackendOptions& options, const ResilienceOptions& resilience,
                     const std::optional<HealthOptions>& health, core::TimePoint now) {
  limit_.store(limit_of(options, resilience), std::memory_order_relaxed);
  circuit_.set_options(resilience.circuit, now);
  health_.set_options(health);
}

void Backend::set_duty(const Duty& duty) {
  const std::lock_guard lock(duty_mutex_);
  duty_ = duty;
  update([&duty](Places& places) {
    places.barred = duty.takes_sessions() ? 0 : 1;
    return true;
  });
}

Duty Backend::duty() const {
  const std::lock_guard lock(duty_mutex_);
  return duty_;
}

Backend::~Backend() = default;

BackendLease Backend::claim() {
  const bool claimed = update([this](Places& places) {
    if (places.barred != 0 || full(places)) return false;
    ++places.active;
    return true;
  });
  return claimed ? BackendLease(*this) : BackendLease();
}

bool Backend::at_capacity() const { return full(places()); }

// Acquire: whoever is counted here took a slot of the pool before, and a look at the pool's count
// after this one sees that.
Backend::Occupancy Backend::occupancy() const {
  const Places now = places_.load(std::memory_order_acquire);
  return {now.active, now.alone, dialing(), full(now)};
}

core::CircuitStatus Backend::circuit_status(core::TimePoint now) {
  core::CircuitStatus status = circuit_.status(now);
  status.rejects += circuit_refusals_.load(std::memory_order_relaxed);
  return status;
}

DialCounters Backend::counters(std::size_t worker, DialTotals* retries) {
  return {&dials(worker), retries, &journal_->last_failure()};
}

std::uint64_t Backend::dials(core::DialOutcome outcome) const {
  std::uint64_t sum = 0;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    sum += totals_[worker].dials[static_cast<std::size_t>(outcome)].value();
  }
  return sum;
}

BackendTotals Backend::totals(core::TimePoint now) {
  BackendTotals totals;
  for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
    totals.dials[i] = dials(static_cast<core::DialOutcome>(i));
  }
  totals.transitions = circuit_.status(now).transitions;
  totals.checks = health_.status().checks;
  return totals;
}

}  // namespace weir::upstream
