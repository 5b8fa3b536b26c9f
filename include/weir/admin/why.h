#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/admin/snapshot.h"

namespace weir::admin {

// What can keep new sessions away from a backend, in the order of selection.
enum class Gate : std::uint8_t { administrative, health, circuit, capacity };

std::string_view name(Gate gate);

// The first gate that refuses; none = the backend may be chosen.
std::optional<Gate> refusing_gate(const Snapshot::Backend& backend);

// A pool in one word.
enum class PoolVerdict : std::uint8_t {
  ok,
  degraded,  // health or a circuit refuses a backend, or a tier below the preferred one is in use
  down,      // no backend may be chosen
};

std::string_view name(PoolVerdict verdict);

struct BackendWhy {
  std::string name;
  std::uint32_t priority = 0;
  std::optional<Gate> gate;  // none = eligible
  upstream::BackendState state = upstream::BackendState::available;
  std::optional<net::WallTime>
      until;         // when the gate may give way by itself; none = never, or open
  std::string hint;  // what would change it, for people; empty = nothing to say
};

struct Why {
  PoolVerdict verdict = PoolVerdict::ok;
  std::size_t eligible = 0;
  std::vector<BackendWhy> backends;  // in the order of the snapshot
};

// Why sessions go where they go. `pool` is one of the snapshot's.
Why why(const Snapshot::Pool& pool, const Snapshot& snapshot);

}  // namespace weir::admin
