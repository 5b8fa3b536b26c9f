#pragma once

#include <array>
#include <cstdint>

#include "weir/core/circuit_state.h"
#include "weir/core/dial_outcome.h"

namespace weir::upstream {

// What a backend came to so far. Totals only grow.
struct BackendTotals {
  std::array<std::uint64_t, core::kDialOutcomes> dials{};
  std::array<std::uint64_t, core::kCircuitPhases> transitions{};  // by the phase they led to
  std::array<std::uint64_t, core::kDialOutcomes> checks{};        // active ones, by outcome

  void add(const BackendTotals& other);
};

}  // namespace weir::upstream
