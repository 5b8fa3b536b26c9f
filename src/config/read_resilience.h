#pragma once

#include "config/mapping.h"
#include "weir/upstream/resilience_options.h"

namespace weir::config {

// `pools[].resilience`. `shutdown_deadline` is what a drain leaves those who wait.
void read_resilience(const Mapping& mapping, Source& source, core::Duration shutdown_deadline,
                     upstream::ResilienceOptions& options);

// What can only be said once the pool's backends are known; each a warning.
void check_resilience(const Mapping& pool, const Mapping& mapping, Source& source,
                      const upstream::ResilienceOptions& options, std::size_t backends);

}  // namespace weir::config
