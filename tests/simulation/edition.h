#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "weir/upstream/pool.h"

namespace weir::simulation {

// The pool as one configuration had it. A client dials by the one that was in force when it began.
struct Edition {
  explicit Edition(std::shared_ptr<upstream::Pool> of) : pool(std::move(of)) {
    tier_of.resize(pool->size());
    for (std::size_t tier = 0; tier < pool->tiers().size(); ++tier) {
      for (const std::size_t place : pool->tiers()[tier].backends) tier_of[place] = tier;
    }
  }

  std::shared_ptr<upstream::Pool> pool;
  std::vector<std::size_t> tier_of;  // by place
};

}  // namespace weir::simulation
