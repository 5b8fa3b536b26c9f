#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "weir/core/candidate.h"
#include "weir/core/circuit.h"
#include "weir/core/dial_plan.h"
#include "weir/core/random.h"
#include "weir/upstream/backend.h"

namespace weir::upstream {

class Pool;

// A backend chosen for one dial, with the place and the leave that the dial needs.
struct Selection {
  std::size_t place = 0;  // in the pool
  BackendLease lease;
  core::Permit permit;
};

// Chooses the backend for the next dial: the gates in their order (administrative, active health,
// circuit, capacity), the preferred tier that has a candidate, that tier's balancer; then the
// claims, which another thread may have been quicker to make: then once more without that backend.
// One a worker, for its scratch space; not thread-safe.
class Selector {
 public:
  explicit Selector(core::Rng& rng) : rng_(rng) {}

  // Empty when nobody can be dialled; left() and refusals() then say why.
  [[nodiscard]] std::optional<Selection> select(Pool& pool, const core::DialPlan& plan,
                                                std::uint64_t source_hash, core::TimePoint now);

  // What the candidates look like, claiming nothing.
  core::Left look(Pool& pool, const core::DialPlan& plan, core::TimePoint now);

  core::Left left() const { return left_; }
  core::Refusals refusals() const { return refusals_; }

 private:
  // To choose counts those whom a circuit keeps out as refused by it.
  enum class Asking { to_look, to_choose };

  // Fills candidates_ with the backends of `tier` that pass every gate and are not ruled out.
  void collect(Pool& pool, std::size_t tier, const core::DialPlan& plan, core::TimePoint now,
               Asking asking);
  void begin_look();

  core::Rng& rng_;
  std::vector<core::Candidate> candidates_;
  core::IndexSet lost_;  // claims lost to other threads in this selection
  core::Left left_ = core::Left::none;
  core::Refusals refusals_;
};

}  // namespace weir::upstream
