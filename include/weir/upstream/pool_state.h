#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weir/core/admission.h"
#include "weir/core/counter.h"
#include "weir/core/histogram.h"
#include "weir/core/random.h"
#include "weir/core/retry_budget.h"
#include "weir/net/journal.h"
#include "weir/upstream/backend.h"
#include "weir/upstream/dial_counters.h"
#include "weir/upstream/pool_options.h"

namespace weir::upstream {

class Pool;

// What one worker counts of a pool as a whole.
struct PoolTotals {
  DialTotals retries;            // dials after the first, as they ended
  core::Counter retries_denied;  // by the budget
  core::Histogram dials;         // how long they took, however they ended
  core::Histogram queue;         // how long those waited who had to, however that ended
};

// What a pool keeps across reloads: who is admitted and who waits, the retry budget, the totals,
// and its backends by their identity, those included that left the configuration while sessions run
// on them. Known by the pool's name. Any thread.
class PoolState {
 public:
  // The journal may be null, and outlives this.
  PoolState(const PoolOptions& options, std::size_t workers, std::uint64_t seed,
            net::Journal* journal);

  const std::string& name() const { return name_; }
  core::Admission& admission() { return admission_; }
  core::RetryBudget& retry_budget() { return retry_budget_; }
  PoolTotals& totals(std::size_t worker) { return totals_[worker].totals; }
  std::size_t workers() const { return totals_.size(); }

  // A backend that nobody knows yet.
  std::shared_ptr<Backend> make_backend(const BackendOptions& options, const PoolOptions& pool);

  // The configuration now in force; null when there is none any more, or none that is shared.
  std::shared_ptr<Pool> current() const;
  void set_current(const std::shared_ptr<Pool>& pool);

  // Takes no sessions from here on, and is kept for as long as it has some.
  void remove(std::shared_ptr<Backend> backend, core::TimePoint now);
  // One that was removed and has sessions still is the same entry again; null if there is none.
  std::shared_ptr<Backend> take_back(const BackendOptions& options);
  bool would_take_back(const BackendOptions& options) const;
  // Forgets the removed ones that are deserted, but for their totals; answers their names.
  std::vector<std::string> forget_deserted(core::TimePoint now);
  std::vector<std::shared_ptr<Backend>> removed() const;
  // Of the backends that were forgotten.
  BackendTotals past() const;

 private:
  using Backends = std::vector<std::shared_ptr<Backend>>;

  Backends::const_iterator find_removed(const BackendOptions& options) const;

  // A cache line and more apart, so that workers do not share lines.
  struct alignas(128) WorkerTotals {
    PoolTotals totals;
  };

  const std::string name_;
  net::Journal* const journal_;
  core::Admission admission_;
  core::RetryBudget retry_budget_;
  std::vector<WorkerTotals> totals_;
  mutable std::mutex mutex_;  // guards what follows
  core::Rng seeds_;
  std::weak_ptr<Pool> current_;
  std::vector<std::shared_ptr<Backend>> removed_;
  BackendTotals past_;
};

}  // namespace weir::upstream
