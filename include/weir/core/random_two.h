#pragma once

#include <cstddef>
#include <span>

#include "weir/core/candidate.h"
#include "weir/core/random.h"

namespace weir::core {

// Two different candidates drawn at random by weight, of which the less loaded for its weight wins,
// at a tie the first drawn. Close to least connections, without everybody rushing to the same idle
// backend when several instances decide on their own.
class RandomTwo {
 public:
  // The place of the chosen one among the members; `candidates` is not empty.
  std::size_t pick(std::span<const Candidate> candidates, Rng& rng) const;
};

}  // namespace weir::core
