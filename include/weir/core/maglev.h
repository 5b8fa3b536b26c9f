#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weir/core/candidate.h"

namespace weir::core {

// The hash that `source_hash` balancing takes: of a client's address alone, without its port, in
// network byte order. The same on every instance; an IPv4 address and its IPv6-mapped form differ.
std::uint64_t source_hash(std::span<const std::byte> address);

// Consistent hashing (Eisenbud et al., Maglev, NSDI 2016): a table of backends, filled in turns by
// weight from each one's own permutation of the places. It depends on the members' identities and
// weights only, not on their order, so that all instances agree; and when a member is added or
// removed few hashes move between the others.
class Maglev {
 public:
  // Prime, so that every stride makes a permutation; 100 times the backends of a large pool, which
  // keeps the shares within a few percent of the weights.
  static constexpr std::size_t kTableSize = 65537;

  // Members of weight 0 get no place.
  explicit Maglev(std::span<const Member> members);

  // The place of the chosen one among the members; `candidates` is not empty. A hash keeps its
  // backend while that is a candidate, whoever else comes or goes; otherwise the table is walked
  // onwards, which spreads a missing backend's share over all the others.
  std::size_t pick(std::span<const Candidate> candidates, std::uint64_t hash) const;

 private:
  std::vector<std::uint32_t> table_;  // places among the members; empty when all weights are 0
};

}  // namespace weir::core
