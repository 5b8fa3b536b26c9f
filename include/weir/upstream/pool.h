#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weir/core/admission.h"
#include "weir/core/balancer.h"
#include "weir/core/dial_outcome.h"
#include "weir/core/random.h"
#include "weir/core/retry_budget.h"
#include "weir/upstream/backend.h"
#include "weir/upstream/pool_options.h"
#include "weir/upstream/pool_snapshot.h"
#include "weir/upstream/pool_state.h"

namespace weir::upstream {

// A set of backends that serve the same thing, as one configuration has it. Its options and its
// list of backends never change: a reload makes a new pool of the same name, which shares the state
// behind (PoolState) and the backends that are in both. A session holds the pool it began to dial
// with, and what it was promised there, to its end. Shared by all workers; what changes are the
// gauges inside and the balancers' memory.
class Pool {
 public:
  using Totals = PoolTotals;

  // The backends of one priority, with the balancer that spreads over them.
  struct Tier {
    std::uint32_t priority;
    std::vector<std::size_t> backends;  // places in the pool, ascending
    core::Balancer balancer;            // guarded by the pool's mutex
  };

  Pool(PoolOptions options, std::size_t workers, net::Journal* journal = nullptr);
  // All that is random in it, its circuits' jitter, comes from `seed`. Above it is a fresh one: no
  // two pools, here or in other instances, should probe in step.
  Pool(PoolOptions options, std::size_t workers, std::uint64_t seed,
       net::Journal* journal = nullptr);

  static std::shared_ptr<Pool> make(PoolOptions options, std::size_t workers,
                                    net::Journal* journal = nullptr);
  // What a reload makes of `before`: limits, thresholds and weights are the new ones, counts,
  // waiters and circuits go on. Of the backends those of the same name and address are kept; the
  // others take no new sessions from here on. One thread at a time.
  static std::shared_ptr<Pool> reload(const std::shared_ptr<Pool>& before, PoolOptions options,
                                      core::TimePoint now);

  // Null unless a reload has replaced it by another.
  std::shared_ptr<Pool> successor() const {
    return replaced_.load(std::memory_order_acquire) ? state_->current() : nullptr;
  }

  const PoolOptions& options() const { return options_; }
  core::Admission& admission() { return state_->admission(); }
  core::RetryBudget& retry_budget() { return state_->retry_budget(); }
  // Where its dials come from; none = the kernel's choice.
  const net::SocketAddress& source() const { return source_; }

  std::size_t size() const { return backends_.size(); }
  Backend& backend(std::size_t place) const { return *backends_[place]; }
  std::span<const std::shared_ptr<Backend>> backends() const { return backends_; }
  // And those that left the configuration and have sessions still.
  std::vector<std::shared_ptr<Backend>> with_removed() const;
  std::shared_ptr<Backend> find(const std::string& name) const;  // null when there is none
  std::uint32_t weight(std::size_t place) const { return options_.backends[place].weight; }

  Totals& totals(std::size_t worker) { return state_->totals(worker); }
  std::uint64_t retries(core::DialOutcome outcome) const;  // over all workers
  std::uint64_t retries_denied() const;
  PoolState& state() { return *state_; }

  // With the backends that were removed and have sessions still. Not for the data path: it reads
  // every worker's totals, and its gauges until they fit.
  PoolSnapshot snapshot(core::TimePoint now) const;

  std::span<const Tier> tiers() const { return tiers_; }  // preferred first
  // Lets the tier's balancer choose; Candidate::index counts within the tier.
  std::optional<std::size_t> pick(std::size_t tier, std::span<const core::Candidate> candidates,
                                  std::uint64_t source_hash, core::Rng& rng);

 private:
  Pool(PoolOptions options, std::shared_ptr<PoolState> state,
       std::vector<std::shared_ptr<Backend>> backends);

  const PoolOptions options_;
  const std::shared_ptr<PoolState> state_;
  const net::SocketAddress source_;
  std::vector<std::shared_ptr<Backend>> backends_;
  std::mutex mutex_;  // guards the balancers: one choice at a time, so that the order is the pool's
  std::vector<Tier> tiers_;
  std::atomic<bool> replaced_{false};
};

}  // namespace weir::upstream
