#pragma once

// Locking: `healthy_` is the gate that sessions go by, read without a lock by any thread; what lies
// behind it is guarded by the mutex, which checks and snapshots take and sessions never do. A
// session that met the gate just before a turn simply came before it.

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "weir/core/circuit.h"
#include "weir/core/dial_outcome.h"
#include "weir/core/health.h"
#include "weir/net/journal.h"
#include "weir/upstream/health_options.h"

namespace weir::upstream {

// A backend's health at one moment; all fields belong together.
struct HealthStatus {
  core::HealthState state = core::HealthState::healthy;
  std::uint32_t consecutive = 0;  // the last checks in a row that speak against the state
  std::array<std::uint64_t, core::kDialOutcomes> checks{};  // that have ended, by outcome
  std::optional<core::DialOutcome> last;                    // none = no check has ended yet
  core::TimePoint last_at{};                                // when it did
};

// What the active checks of one backend come to: a gate of the selector, above the circuit's. A
// turn is logged, and a turn to healthy closes the circuit; nothing else here touches the circuit.
// Outcomes come from one thread.
class BackendHealth {
 public:
  // Without options there are no checks, and the backend is healthy. `pool` and `backend` are for
  // the log and the journal, which may be null. The circuit outlives this.
  BackendHealth(const std::optional<HealthOptions>& options, core::Circuit& circuit,
                std::string pool, std::string backend, net::Journal* journal = nullptr);

  bool healthy() const { return healthy_.load(std::memory_order_acquire); }
  bool checked() const { return checked_.load(std::memory_order_relaxed); }

  // Other thresholds; the state and the checks in a row stay. A backend that is no longer checked
  // is healthy from there, which is logged as a turn is, and begins anew when it is checked again.
  void set_options(const std::optional<HealthOptions>& options);

  // Unhealthy in the process before this one, and so here until checks say otherwise.
  void restore_unhealthy();

  // A check ended at `now`.
  void take(core::DialOutcome outcome, core::TimePoint now);

  HealthStatus status() const;

 private:
  void turn(core::HealthState to, const std::string& cause, core::TimePoint now);
  void tell(core::HealthState to, const std::string& cause) const;

  core::Circuit& circuit_;
  const std::string pool_;
  const std::string backend_;
  net::Journal* const journal_;
  std::atomic<bool> checked_;
  std::atomic<bool> healthy_{true};
  mutable std::mutex mutex_;
  HealthOptions options_;
  core::Health health_;
  HealthStatus status_;
};

}  // namespace weir::upstream
