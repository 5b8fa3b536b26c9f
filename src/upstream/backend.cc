#include "weir/upstream/backend.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "weir/net/log.h"

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
    --(alone_ ? places.alone : places.active);
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

// Writes the circuit's transitions into the log. Called under the circuit's mutex, which only a
// backend in trouble takes; the log's queue does not block.
class Backend::CircuitJournal final : public core::CircuitObserver {
 public:
  CircuitJournal(const std::string& pool, std::string backend)
      : about_("pool " + pool), backend_(std::move(backend)) {}

  void on_transition(const core::Transition& transition) override {
    const bool trouble = transition.to == core::CircuitPhase::open;
    net::log(trouble ? net::LogLevel::warning : net::LogLevel::info, about_,
             "backend {}: circuit {} -> {}: {}{}{}", backend_, core::name(transition.from),
             core::name(transition.to), core::name(transition.cause), last_failure(transition),
             bound(transition));
  }

  // Noted before the circuit hears of it. Of two workers' failures at once either may be shown.
  std::atomic<core::DialOutcome> last_failure_{core::DialOutcome::connected};

 private:
  std::string last_failure(const core::Transition& transition) const {
    switch (transition.cause) {
      case core::TransitionCause::consecutive_failures:
      case core::TransitionCause::failure_rate:
      case core::TransitionCause::probe_failed:
        return fmt::format(", the last: {}", core::name(last_failure_.load()));
      case core::TransitionCause::probe_started:
      case core::TransitionCause::probe_succeeded:
      case core::TransitionCause::half_open_expired:
      case core::TransitionCause::health_recovered:
      case core::TransitionCause::operator_open:
      case core::TransitionCause::operator_close:
        break;
    }
    return {};
  }

  static std::string bound(const core::Transition& transition) {
    if (transition.until <= transition.at) return {};
    const std::chrono::duration<double> span = transition.until - transition.at;
    return fmt::format("; for {}{:.4g} s",
                       transition.to == core::CircuitPhase::half_open ? "at most " : "",
                       span.count());
  }

  const std::string about_;
  const std::string backend_;
};

Backend::Backend(BackendOptions options, const ResilienceOptions& resilience,
                 const std::string& pool, std::uint64_t seed, std::size_t workers,
                 const std::optional<HealthOptions>& health)
    : options_(std::move(options)),
      address_text_(options_.address.text()),
      address_(net::SocketAddress::from(options_.address)),
      limit_(options_.max_active != 0 ? options_.max_active : resilience.max_active_per_backend),
      journal_(std::make_unique<CircuitJournal>(pool, options_.name)),
      circuit_(resilience.circuit, seed, journal_.get()),
      health_(health ? std::make_unique<BackendHealth>(*health, circuit_, pool, options_.name)
                     : nullptr),
      workers_(workers),
      totals_(std::make_unique<WorkerTotals[]>(workers)) {}

Backend::~Backend() = default;

BackendLease Backend::claim() {
  const bool claimed = update([this](Places& places) {
    if (full(places)) return false;
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
  return {now.active, dialing(), full(now)};
}

core::CircuitStatus Backend::circuit_status(core::TimePoint now) {
  core::CircuitStatus status = circuit_.status(now);
  status.rejects += circuit_refusals_.load(std::memory_order_relaxed);
  return status;
}

DialCounters Backend::counters(std::size_t worker, DialTotals* retries) {
  return {&dials(worker), retries, &journal_->last_failure_};
}

std::uint64_t Backend::dials(core::DialOutcome outcome) const {
  std::uint64_t sum = 0;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    sum += totals_[worker].dials[static_cast<std::size_t>(outcome)].value();
  }
  return sum;
}

}  // namespace weir::upstream
