#include "weir/core/least_connections.h"

namespace weir::core {

std::size_t LeastConnections::pick(std::span<const Candidate> candidates) {
  const Candidate* least = &candidates.front();
  for (const Candidate& candidate : candidates) {
    if (less_loaded(candidate, *least)) least = &candidate;
  }
  return turns_.pick_if(
      candidates, [&](const Candidate& candidate) { return !less_loaded(*least, candidate); });
}

}  // namespace weir::core
