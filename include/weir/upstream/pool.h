#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "weir/core/admission.h"
#include "weir/core/balancer.h"
#include "weir/core/counter.h"
#include "weir/core/dial_outcome.h"
#include "weir/core/random.h"
#include "weir/core/retry_budget.h"
#include "weir/upstream/backend.h"
#include "weir/upstream/pool_options.h"
#include "weir/upstream/pool_snapshot.h"

namespace weir::upstream {

// A set of backends that serve the same thing. Shared by all workers; outlives every session of
// it. Its options never change; what changes are the gauges inside and the balancers' memory.
class Pool {
 public:
  // What one worker counts of the pool as a whole.
  struct Totals {
    DialTotals retries;            // dials after the first, as they ended
    core::Counter retries_denied;  // by the budget
  };

  // The backends of one priority, with the balancer that spreads over them.
  struct Tier {
    std::uint32_t priority;
    std::vector<std::size_t> backends;  // places in the pool, ascending
    core::Balancer balancer;            // guarded by the pool's mutex
  };

  Pool(PoolOptions options, std::size_t workers);
  // All that is random in it, its circuits' jitter, comes from `seed`. Above it is a fresh one: no
  // two pools, here or in other instances, should probe in step.
  Pool(PoolOptions options, std::size_t workers, std::uint64_t seed);

  const PoolOptions& options() const { return options_; }
  core::Admission& admission() { return admission_; }
  core::RetryBudget& retry_budget() { return retry_budget_; }
  // Where its dials come from; none = the kernel's choice.
  const net::SocketAddress& source() const { return source_; }

  std::size_t size() const { return backends_.size(); }
  Backend& backend(std::size_t place) const { return *backends_[place]; }
  std::span<const std::unique_ptr<Backend>> backends() const { return backends_; }

  Totals& totals(std::size_t worker) { return totals_[worker].totals; }
  std::uint64_t retries(core::DialOutcome outcome) const;  // over all workers
  std::uint64_t retries_denied() const;

  // Not for the data path: it reads every worker's totals, and its gauges until they fit.
  PoolSnapshot snapshot(core::TimePoint now) const;

  std::span<const Tier> tiers() const { return tiers_; }  // preferred first
  // Lets the tier's balancer choose; Candidate::index counts within the tier.
  std::optional<std::size_t> pick(std::size_t tier, std::span<const core::Candidate> candidates,
                                  std::uint64_t source_hash, core::Rng& rng);

 private:
  // A cache line and more apart, so that workers do not share lines.
  struct alignas(128) WorkerTotals {
    Totals totals;
  };

  void read_gauges(PoolSnapshot& shown) const;

  const PoolOptions options_;
  core::Admission admission_;
  core::RetryBudget retry_budget_;
  const net::SocketAddress source_;
  std::vector<std::unique_ptr<Backend>> backends_;
  std::mutex mutex_;  // guards the balancers: one choice at a time, so that the order is the pool's
  std::vector<Tier> tiers_;
  std::vector<WorkerTotals> totals_;
};

}  // namespace weir::upstream
