#include "weir/core/balancer.h"

namespace weir::core {

Balancer::Balancer(Balance policy, std::span<const Member> members)
    : algorithm_(make(policy, members)) {}

Balancer::Algorithm Balancer::make(Balance policy, std::span<const Member> members) {
  switch (policy) {
    case Balance::round_robin:
      return SmoothRoundRobin(members.size());
    case Balance::least_connections:
      return LeastConnections(members.size());
    case Balance::random_two:
      return RandomTwo();
    case Balance::source_hash:
      return Maglev(members);
    case Balance::first:
      break;
  }
  return First();
}

std::optional<std::size_t> Balancer::pick(std::span<const Candidate> candidates,
                                          std::uint64_t source_hash, Rng& rng) {
  if (candidates.empty()) return std::nullopt;
  struct Picker {
    std::span<const Candidate> candidates;
    std::uint64_t source_hash;
    Rng& rng;

    std::size_t operator()(First&) const { return candidates.front().index; }
    std::size_t operator()(SmoothRoundRobin& algorithm) const { return algorithm.pick(candidates); }
    std::size_t operator()(LeastConnections& algorithm) const { return algorithm.pick(candidates); }
    std::size_t operator()(RandomTwo& algorithm) const { return algorithm.pick(candidates, rng); }
    std::size_t operator()(Maglev& algorithm) const {
      return algorithm.pick(candidates, source_hash);
    }
  };
  return std::visit(Picker{candidates, source_hash, rng}, algorithm_);
}

}  // namespace weir::core
