#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/core/balance.h"
#include "weir/core/circuit_state.h"
#include "weir/core/close_reason.h"
#include "weir/core/dial_outcome.h"
#include "weir/core/histogram.h"
#include "weir/core/time.h"
#include "weir/upstream/backend_health.h"
#include "weir/upstream/backend_state.h"
#include "weir/upstream/backend_totals.h"

namespace weir::upstream {

struct BackendSnapshot {
  std::string name;
  std::string address;
  std::uint32_t weight = 0;
  std::uint32_t priority = 0;
  std::uint32_t max_active = 0;                // dials and sessions together; 0 = none
  bool disabled = false;                       // by an operator
  bool draining = false;                       // by an operator, or removed
  bool removed = false;                        // gone from the configuration
  core::TimePoint drain_until = core::kNever;  // when a drain ends what is left
  BackendState state = BackendState::available;
  std::uint64_t active = 0;                                // gauge: dials and sessions
  std::uint64_t dialing = 0;                               // gauge: dials alone
  bool full = false;                                       // at its limit
  std::array<std::uint64_t, core::kDialOutcomes> dials{};  // totals
  core::CircuitStatus circuit{};                           // one moment of it
  std::optional<HealthStatus> health;                      // one moment; none = no active checks

  std::uint64_t dials_that(core::DialOutcome outcome) const {
    return dials[static_cast<std::size_t>(outcome)];
  }
};

// What an observer is shown of a pool. Totals only grow, and each is exact.
struct PoolSnapshot {
  // The gauges fit each other, as they do at every moment:
  //     pending <= max_pending
  //     the sum of the backends' `active` <= `active`
  // False: they did not, however often they were read again. Then each is right by itself.
  bool consistent = false;

  std::string name;
  core::Balance balance = core::Balance::round_robin;
  bool removed = false;       // gone from the configuration; its sessions run on
  std::uint64_t active = 0;   // gauge: sessions from admission to their end
  std::uint64_t pending = 0;  // gauge: clients in the queue
  std::uint32_t max_active = 0;
  std::uint32_t max_pending = 0;
  std::array<std::uint64_t, core::kCloseReasons> rejected{};  // by the admission
  std::array<std::uint64_t, core::kDialOutcomes> retries{};   // dials after the first
  std::uint64_t retry_budget_denied = 0;                      // retries that were not made
  core::HistogramCounts dial_times;                           // of dials that have ended
  core::HistogramCounts queue_times;                          // of waits that have ended
  BackendTotals totals;  // of all backends that the pool ever had
  std::vector<BackendSnapshot> backends;

  std::uint64_t rejected_as(core::CloseReason reason) const {
    return rejected[static_cast<std::size_t>(reason)];
  }
};

}  // namespace weir::upstream
