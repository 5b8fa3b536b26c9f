#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/core/close_reason.h"
#include "weir/core/time.h"
#include "weir/net/acceptor.h"
#include "weir/net/wall_clock.h"
#include "weir/upstream/pool_snapshot.h"

namespace weir::admin {

// Gauges and totals of a whole instance, summed over its workers. Each number is exact; numbers
// that change while it is taken may be a moment apart, but for those of a pool that belong
// together.
struct Snapshot {
  struct Listener {
    std::string name;
    std::vector<std::string> bind;      // where it really listens
    std::string pool;                   // where its clients go
    std::uint64_t max_connections = 0;  // 0 = bounded only by the process
    bool draining = false;              // gone from the configuration; its sessions run on
    std::uint64_t connections = 0;      // gauge: admitted and not yet closed
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
  using Backend = upstream::BackendSnapshot;
  using Pool = upstream::PoolSnapshot;

  core::TimePoint taken{};     // on the clock that the circuits' times are on
  net::WallTime taken_at{};    // the same moment as the time of day
  std::uint64_t sessions = 0;  // gauge: accepted and not yet closed
  std::vector<Listener> listeners;
  std::vector<Pool> pools;
  std::uint64_t access_log_dropped = 0;
  std::uint64_t open_fds = 0;

  const Listener& listener(const std::string& name) const;
  const Pool& pool(const std::string& name) const;
  const Backend& backend(const std::string& pool, const std::string& name) const;

  // One JSON object on one line; listeners and pools are those of the API.
  std::string json() const;
  // What json() has written, but for the times. Throws what says why, when it is nothing of it.
  static Snapshot from_json(const std::string& text);

  // Adds what another process counts of the listeners, pools and backends that are here too; of
  // those that are not, the other's are taken over. Gauges are added only `with_gauges`.
  void add(const Snapshot& other, bool with_gauges);
};

}  // namespace weir::admin
