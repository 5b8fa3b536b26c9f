#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "weir/core/counter.h"
#include "weir/core/dial_outcome.h"

namespace weir::upstream {

// Dials by their outcome, of one worker.
using DialTotals = std::array<core::Counter, core::kDialOutcomes>;

// Where one dial is counted, once, as it ended: with its backend, and among the pool's retries if
// it is one. Before the circuit hears of it, so that what is logged then can name the failure.
struct DialCounters {
  DialTotals* backend = nullptr;
  DialTotals* retries = nullptr;
  std::atomic<core::DialOutcome>* last_failure = nullptr;

  void add(core::DialOutcome outcome) const {
    const auto place = static_cast<std::size_t>(outcome);
    (*backend)[place].add();
    if (retries != nullptr) (*retries)[place].add();
    if (core::verdict(outcome) == core::Verdict::failure) {
      last_failure->store(outcome, std::memory_order_relaxed);
    }
  }
};

}  // namespace weir::upstream
