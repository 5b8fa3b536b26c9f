#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "weir/core/balance.h"
#include "weir/core/candidate.h"
#include "weir/core/least_connections.h"
#include "weir/core/maglev.h"
#include "weir/core/random.h"
#include "weir/core/random_two.h"
#include "weir/core/smooth_round_robin.h"

namespace weir::core {

// Spreads new sessions over one tier of a pool. Made anew when the tier's members or their weights
// change. Not thread-safe: the pool calls it under its mutex. pick() does not allocate.
class Balancer {
 public:
  // `members` are all the backends of the tier, weight 0 included; candidates refer to them by
  // place. Nothing of the span is kept.
  Balancer(Balance policy, std::span<const Member> members);

  // Candidate::index of the chosen one; nullopt exactly when there is no candidate. `candidates`
  // are the backends that passed every gate, sorted by index, each once, none of weight 0.
  // `source_hash` matters under source_hash only, `rng` under random_two only.
  [[nodiscard]] std::optional<std::size_t> pick(std::span<const Candidate> candidates,
                                                std::uint64_t source_hash, Rng& rng);

 private:
  struct First {};
  using Algorithm = std::variant<First, SmoothRoundRobin, LeastConnections, RandomTwo, Maglev>;

  static Algorithm make(Balance policy, std::span<const Member> members);

  Algorithm algorithm_;
};

}  // namespace weir::core
