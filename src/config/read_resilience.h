#pragma once

#include "config/mapping.h"
#include "weir/upstream/pool_options.h"

namespace weir::config {

// `pools[].resilience`. `shutdown_deadline` is what a drain leaves those who wait.
// False when something of the circuit's is wrong.
bool read_resilience(const Mapping& mapping, Source& source, core::Duration shutdown_deadline,
                     upstream::ResilienceOptions& options);

// What can only be said once the pool's backends are known; each a warning.
void check_resilience(const Mapping& mapping, const Mapping& resilience, Source& source,
                      const upstream::PoolOptions& pool);

}  // namespace weir::config
