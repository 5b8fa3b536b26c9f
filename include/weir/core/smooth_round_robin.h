#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weir/core/candidate.h"

namespace weir::core {

// Smooth weighted round robin, as nginx has it: every candidate earns its weight in credit, the
// richest is chosen and pays what all earned. Over a fixed set, as many choices as the weights sum
// up to give each candidate exactly its weight, spread out instead of in bursts.
//
// A set that changes leaves credit behind that was earned against others: a weight of 1 beside 256
// saves up to 128, which would buy it 64 sessions in a row against another 1. So credit counts for
// one choice at most: before each choice it is bounded by what the candidates earn together. A
// fixed set never reaches that bound. Forgetting the credit of whoever was absent instead would
// starve a light backend that is ineligible once in a while.
class SmoothRoundRobin {
 public:
  explicit SmoothRoundRobin(std::size_t members) : credit_(members, 0) {}

  // The place of the chosen one among the members; `candidates` is not empty.
  std::size_t pick(std::span<const Candidate> candidates) {
    return pick_if(candidates, [](const Candidate&) { return true; });
  }

  // The same among those that `admit` is true for: at least one.
  template <typename Admit>
  std::size_t pick_if(std::span<const Candidate> candidates, Admit admit) {
    std::int64_t total = 0;
    for (const Candidate& candidate : candidates) {
      if (admit(candidate)) total += candidate.weight;
    }
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates) {
      if (!admit(candidate)) continue;
      std::int64_t& credit = credit_[candidate.index];
      credit = std::clamp(credit, -total, total) + candidate.weight;
      if (best == nullptr || credit > credit_[best->index]) best = &candidate;
    }
    assert(best != nullptr);
    credit_[best->index] -= total;
    return best->index;
  }

 private:
  std::vector<std::int64_t> credit_;
};

}  // namespace weir::core
