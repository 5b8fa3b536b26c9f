#include "weir/upstream/backend.h"

#include <utility>

#include "weir/net/log.h"

namespace weir::upstream {

BackendLease::~BackendLease() {
  if (backend_ != nullptr) backend_->active_.fetch_sub(1, std::memory_order_relaxed);
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
             "backend {}: circuit {} -> {}: {}", backend_, core::name(transition.from),
             core::name(transition.to), core::name(transition.cause));
  }

 private:
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
  std::uint32_t active = active_.load(std::memory_order_relaxed);
  do {
    if (limit_ != 0 && active >= limit_) return {};
  } while (!active_.compare_exchange_weak(active, active + 1, std::memory_order_relaxed));
  return BackendLease(*this);
}

bool Backend::at_capacity() const { return limit_ != 0 && active() >= limit_; }

std::uint64_t Backend::dials(core::DialOutcome outcome) const {
  std::uint64_t sum = 0;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    sum += totals_[worker].dials[static_cast<std::size_t>(outcome)].value();
  }
  return sum;
}

}  // namespace weir::upstream
