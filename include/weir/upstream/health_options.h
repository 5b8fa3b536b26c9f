#pragma once

#include <cstdint>

#include "weir/core/time.h"

namespace weir::upstream {

// How a backend is asked whether it is there.
enum class HealthType : std::uint8_t {
  tcp,  // it accepts a connection, which is reset at once
};

// `pools[].health`: active checks of every backend of a pool. Validated by the config layer.
struct HealthOptions {
  HealthType type = HealthType::tcp;
  core::Duration interval = std::chrono::seconds(5);  // from start to start of two checks; never 0
  core::Duration timeout = std::chrono::seconds(2);   // one check, name look-up included; never 0
  std::uint32_t rise = 2;  // successes in a row that make a backend healthy; at least 1
  std::uint32_t fall = 3;  // failures in a row that make it unhealthy; at least 1
  bool operator==(const HealthOptions&) const = default;
};

}  // namespace weir::upstream
