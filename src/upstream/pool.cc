#include "weir/upstream/pool.h"

#include <map>
#include <random>
#include <utility>

namespace weir::upstream {

namespace {

// A random_device gives 32 bits at a time.
std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

Pool::Pool(PoolOptions options, std::size_t workers)
    : Pool(std::move(options), workers, fresh_seed()) {}

Pool::Pool(PoolOptions options, std::size_t workers, std::uint64_t seed)
    : options_(std::move(options)),
      admission_(options_.resilience.admission),
      retry_budget_(options_.resilience.retry_budget_percent),
      source_(options_.source_address ? net::SocketAddress::from(*options_.source_address)
                                      : net::SocketAddress()),
      totals_(workers) {
  core::Rng seeds(seed);
  std::map<std::uint32_t, std::vector<std::size_t>> by_priority;
  for (const BackendOptions& backend : options_.backends) {
    by_priority[backend.priority].push_back(backends_.size());
    backends_.push_back(std::make_unique<Backend>(backend, options_.resilience, options_.name,
                                                  seeds.next(), workers, options_.health));
  }
  for (auto& [priority, places] : by_priority) {
    std::vector<core::Member> members;
    for (const std::size_t place : places) {
      const Backend& backend = *backends_[place];
      members.push_back({backend.name() + " " + backend.address_text(), backend.options().weight});
    }
    tiers_.push_back({priority, std::move(places), core::Balancer(options_.balance, members)});
  }
}

std::optional<std::size_t> Pool::pick(std::size_t tier, std::span<const core::Candidate> candidates,
                                      std::uint64_t source_hash, core::Rng& rng) {
  if (candidates.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return tiers_[tier].balancer.pick(candidates, source_hash, rng);
}

std::uint64_t Pool::retries(core::DialOutcome outcome) const {
  std::uint64_t sum = 0;
  for (const WorkerTotals& worker : totals_) {
    sum += worker.totals.retries[static_cast<std::size_t>(outcome)].value();
  }
  return sum;
}

std::uint64_t Pool::retries_denied() const {
  std::uint64_t sum = 0;
  for (const WorkerTotals& worker : totals_) sum += worker.totals.retries_denied.value();
  return sum;
}

}  // namespace weir::upstream
