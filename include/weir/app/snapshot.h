#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/core/circuit_state.h"
#include "weir/core/close_reason.h"
#include "weir/core/dial_outcome.h"
#include "weir/net/acceptor.h"
#include "weir/upstream/backend_health.h"

namespace weir::app {

// Gauges and totals of a whole instance at one moment, summed over its workers. Each number is
// exact; numbers that change while it is taken may be a moment apart.
struct Snapshot {
  struct Listener {
    std::string name;
    std::uint64_t connections = 0;  // gauge: admitted and not yet closed
    std::uint64_t accepted = 0;
    std::array<std::uint64_t, net::kAcceptErrors> accept_errors{};
    std::array<std::uint64_t, core::kCloseReasons> closed{};
    std::uint64_t bytes_in = 0;   // client to backend
    std::uint64_t bytes_out = 0;  // backend to client

    std::uint64_t closed_as(core::CloseReason reason) const {
      return closed[static_cast<std::size_t>(reason)];
    }
    std::uint64_t closed_total() const;
  };
  struct Backend {
    std::string name;
    std::string address;
    std::uint64_t active = 0;   // gauge: dials and sessions
    std::uint64_t dialing = 0;  // gauge: dials alone
    std::array<std::uint64_t, core::kDialOutcomes> dials{};
    core::CircuitStatus circuit{};
    std::optional<upstream::HealthStatus> health;  // none = no active checks

    std::uint64_t dials_that(core::DialOutcome outcome) const {
      return dials[static_cast<std::size_t>(outcome)];
    }
  };
  struct Pool {
    std::string name;
    std::uint64_t active = 0;   // gauge: sessions from admission to their end
    std::uint64_t pending = 0;  // gauge: clients in the queue
    std::array<std::uint64_t, core::kCloseReasons> rejected{};  // by the admission
    std::vector<Backend> backends;

    std::uint64_t rejected_as(core::CloseReason reason) const {
      return rejected[static_cast<std::size_t>(reason)];
    }
  };

  std::uint64_t sessions = 0;  // gauge: accepted and not yet closed
  std::vector<Listener> listeners;
  std::vector<Pool> pools;
  std::uint64_t access_log_dropped = 0;
  std::uint64_t open_fds = 0;

  const Listener& listener(const std::string& name) const;
  const Pool& pool(const std::string& name) const;
  const Backend& backend(const std::string& pool, const std::string& name) const;

  // One JSON object on one line. Counts by reason or outcome list only those above 0.
  std::string json() const;
};

}  // namespace weir::app
