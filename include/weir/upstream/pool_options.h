#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/core/balance.h"
#include "weir/core/endpoint.h"
#include "weir/core/time.h"
#include "weir/net/keepalive_options.h"
#include "weir/upstream/health_options.h"
#include "weir/upstream/resilience_options.h"

namespace weir::upstream {

// One entry of `pools[].backends`. Its identity within the pool is name and address.
struct BackendOptions {
  std::string name;
  core::Endpoint address;
  std::uint32_t weight = 1;      // 0 takes no new sessions; at most 256
  std::uint32_t priority = 0;    // tier; 0 is preferred
  std::uint32_t max_active = 0;  // dials and sessions together; 0 = no bound of its own
  bool operator==(const BackendOptions&) const = default;
};

// The bounds on a session's life; 0 means what contract says per key.
struct TimeoutOptions {
  core::Duration connect = std::chrono::seconds(5);      // one dial; never 0
  core::Duration idle = std::chrono::hours(1);           // both directions silent; 0 = no bound
  core::Duration half_close = std::chrono::seconds(30);  // silence after one FIN; 0 = as idle
  core::Duration write_stall =
      std::chrono::seconds(60);                     // a reader that takes nothing; 0 = as idle
  core::Duration session{0};                        // whole session; 0 = no bound
  core::Duration linger = std::chrono::seconds(5);  // draining after weir has ended; 0 = at once
  bool operator==(const TimeoutOptions&) const = default;
};

// One entry of `pools`. Plain values, validated by the config layer.
struct PoolOptions {
  std::string name;
  core::Balance balance = core::Balance::round_robin;
  ResilienceOptions resilience;
  TimeoutOptions timeouts;
  net::KeepaliveOptions keepalive;
  std::optional<HealthOptions> health;           // none = no active checks
  std::optional<core::Endpoint> source_address;  // local address to dial from (port 0)
  std::vector<BackendOptions> backends;
  bool operator==(const PoolOptions&) const = default;
};

}  // namespace weir::upstream
