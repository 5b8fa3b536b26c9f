#pragma once

#include <atomic>
#include <string>

#include "weir/core/circuit_state.h"
#include "weir/core/dial_outcome.h"
#include "weir/net/journal.h"

namespace weir::upstream {

// Writes one circuit's transitions into the log and the journal. Called under the circuit's mutex,
// which only a backend in trouble takes; neither the log's queue nor the journal blocks.
class CircuitJournal final : public core::CircuitObserver {
 public:
  // The journal may be null, and outlives this.
  CircuitJournal(std::string pool, std::string backend, net::Journal* journal);

  void on_transition(const core::Transition& transition) override;

  // Noted before the circuit hears of it. Of two workers' failures at once either may be shown.
  std::atomic<core::DialOutcome>& last_failure() { return last_failure_; }

 private:
  std::string cause(const core::Transition& transition) const;

  const std::string pool_;
  const std::string backend_;
  net::Journal* const journal_;
  std::atomic<core::DialOutcome> last_failure_{core::DialOutcome::connected};
};

}  // namespace weir::upstream
