#include "weir/core/random_two.h"

#include <cassert>
#include <cstdint>

namespace weir::core {
namespace {

// The candidate that `point`, below the sum of the weights, falls on; `skip` takes up no room.
const Candidate* at(std::span<const Candidate> candidates, std::uint64_t point,
                    const Candidate* skip) {
  for (const Candidate& candidate : candidates) {
    if (&candidate == skip) continue;
    if (point < candidate.weight) return &candidate;
    point -= candidate.weight;
  }
  assert(false && "the point lies beyond the weights");
  return &candidates.front();
}

}  // namespace

std::size_t RandomTwo::pick(std::span<const Candidate> candidates, Rng& rng) const {
  if (candidates.size() == 1) return candidates.front().index;
  std::uint64_t total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;

  const Candidate* first = at(candidates, rng.below(total), nullptr);
  const Candidate* second = at(candidates, rng.below(total - first->weight), first);
  return less_loaded(*second, *first) ? second->index : first->index;
}

}  // namespace weir::core
