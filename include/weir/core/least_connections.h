#pragma once

#include <cstddef>
#include <span>

#include "weir/core/candidate.h"
#include "weir/core/smooth_round_robin.h"

namespace weir::core {

// The candidate with the fewest active sessions for its weight. Those with equally few take turns
// by smooth weighted round robin: an idle pool follows the weights too, where comparing
// (active + 1) / weight would give everything to the heaviest until it is busy.
class LeastConnections {
 public:
  explicit LeastConnections(std::size_t members) : turns_(members) {}

  // The place of the chosen one among the members; `candidates` is not empty.
  std::size_t pick(std::span<const Candidate> candidates);

 private:
  SmoothRoundRobin turns_;
};

}  // namespace weir::core
