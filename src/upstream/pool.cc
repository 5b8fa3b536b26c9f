#include "weir/upstream/pool.h"

#include <algorithm>
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

std::vector<std::shared_ptr<Backend>> make_backends(const PoolOptions& options, PoolState& state) {
  std::vector<std::shared_ptr<Backend>> backends;
  for (const BackendOptions& backend : options.backends) {
    backends.push_back(state.make_backend(backend, options));
  }
  return backends;
}

bool same(const Backend& backend, const BackendOptions& options) {
  return backend.name() == options.name && backend.endpoint() == options.address;
}

}  // namespace

Pool::Pool(PoolOptions options, std::size_t workers, net::Journal* journal)
    : Pool(std::move(options), workers, fresh_seed(), journal) {}

Pool::Pool(PoolOptions options, std::size_t workers, std::uint64_t seed, net::Journal* journal)
    : Pool(options, std::make_shared<PoolState>(options, workers, seed, journal), {}) {}

Pool::Pool(PoolOptions options, std::shared_ptr<PoolState> state,
           std::vector<std::shared_ptr<Backend>> backends)
    : options_(std::move(options)),
      state_(std::move(state)),
      source_(options_.source_address ? net::SocketAddress::from(*options_.source_address)
                                      : net::SocketAddress()),
      backends_(backends.empty() ? make_backends(options_, *state_) : std::move(backends)) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_priority;
  for (std::size_t place = 0; place < backends_.size(); ++place) {
    by_priority[options_.backends[place].priority].push_back(place);
  }
  for (auto& [priority, places] : by_priority) {
    std::vector<core::Member> members;
    for (const std::size_t place : places) {
      const Backend& backend = *backends_[place];
      members.push_back({backend.name() + " " + backend.address_text(), weight(place)});
    }
    tiers_.push_back({priority, std::move(places), core::Balancer(options_.balance, members)});
  }
}

std::shared_ptr<Pool> Pool::make(PoolOptions options, std::size_t workers, net::Journal* journal) {
  auto pool = std::make_shared<Pool>(std::move(options), workers, journal);
  pool->state_->set_current(pool);
  return pool;
}

// Those that leave are barred before the new pool is shown to anybody, and the limits are raised
// last: whom they wake finds the new backends.
std::shared_ptr<Pool> Pool::reload(const std::shared_ptr<Pool>& before, PoolOptions options,
                                   core::TimePoint now) {
  PoolState& state = *before->state_;
  std::vector<std::shared_ptr<Backend>> leaving = before->backends_;
  std::vector<std::shared_ptr<Backend>> backends;
  for (const BackendOptions& each : options.backends) {
    const auto kept = std::find_if(leaving.begin(), leaving.end(),
                                   [&each](const auto& backend) { return same(*backend, each); });
    std::shared_ptr<Backend> backend;
    if (kept != leaving.end()) {
      backend = std::move(*kept);
      leaving.erase(kept);
    } else {
      backend = state.take_back(each);
    }
    if (backend) {
      backend->retune(each, options.resilience, options.health, now);
    } else {
      backend = state.make_backend(each, options);
    }
    backends.push_back(std::move(backend));
  }
  for (auto& backend : leaving) state.remove(std::move(backend), now);

  std::shared_ptr<Pool> pool(new Pool(std::move(options), before->state_, std::move(backends)));
  state.set_current(pool);
  before->replaced_.store(true, std::memory_order_release);
  state.retry_budget().set_percent(pool->options_.resilience.retry_budget_percent);
  state.admission().set_limits(pool->options_.resilience.admission);
  return pool;
}

std::vector<std::shared_ptr<Backend>> Pool::with_removed() const {
  std::vector<std::shared_ptr<Backend>> all = backends_;
  for (auto& removed : state_->removed()) all.push_back(std::move(removed));
  return all;
}

std::shared_ptr<Backend> Pool::find(const std::string& name) const {
  const auto found = std::find_if(backends_.begin(), backends_.end(),
                                  [&name](const auto& backend) { return backend->name() == name; });
  return found == backends_.end() ? nullptr : *found;
}

std::optional<std::size_t> Pool::pick(std::size_t tier, std::span<const core::Candidate> candidates,
                                      std::uint64_t source_hash, core::Rng& rng) {
  if (candidates.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return tiers_[tier].balancer.pick(candidates, source_hash, rng);
}

std::uint64_t Pool::retries(core::DialOutcome outcome) const {
  std::uint64_t sum = 0;
  for (std::size_t worker = 0; worker < state_->workers(); ++worker) {
    sum += state_->totals(worker).retries[static_cast<std::size_t>(outcome)].value();
  }
  return sum;
}

std::uint64_t Pool::retries_denied() const {
  std::uint64_t sum = 0;
  for (std::size_t worker = 0; worker < state_->workers(); ++worker) {
    sum += state_->totals(worker).retries_denied.value();
  }
  return sum;
}

}  // namespace weir::upstream
