#pragma once

#include <chrono>

#include "weir/admin/snapshot.h"

namespace weir::admin {

// A backend that takes sessions.
inline Snapshot::Backend made_backend(const std::string& name, std::uint32_t priority = 0) {
  Snapshot::Backend backend;
  backend.name = name;
  backend.address = "127.0.0.1:5432";
  backend.weight = 1;
  backend.priority = priority;
  backend.circuit.epoch = 1;
  return backend;
}

// A listener `orders` and two pools, `orders` with the backends `pg-a` and `pg-b`, and `cache` with
// one, taken at 12:00:00.000 and at 1000 s of the loops' clock.
inline Snapshot made_snapshot() {
  using namespace std::chrono_literals;
  Snapshot snapshot;
  snapshot.taken = core::TimePoint(1000s);
  snapshot.taken_at = net::WallTime(1'796'040'000'000ms);
  snapshot.sessions = 3;
  snapshot.access_log_dropped = 7;
  snapshot.open_fds = 40;
  Snapshot::Listener& listener = snapshot.listeners.emplace_back();
  listener.name = "orders";
  listener.bind = {"127.0.0.1:5432", "[::1]:5432"};
  listener.pool = "orders";
  listener.max_connections = 100;
  listener.connections = 2;
  listener.accepted = 18446744073709551615ULL;
  listener.bytes_in = 11;
  listener.bytes_out = 12;
  listener.closed[static_cast<std::size_t>(core::CloseReason::client_closed)] = 5;
  listener.accept_errors[static_cast<std::size_t>(net::AcceptError::fd_limit)] = 1;
  Snapshot::Pool orders;
  orders.name = "orders";
  orders.consistent = true;
  orders.active = 4;
  orders.pending = 3;
  orders.max_active = 90;
  orders.max_pending = 80;
  orders.rejected[static_cast<std::size_t>(core::CloseReason::proxy_overloaded)] = 2;
  orders.retries[static_cast<std::size_t>(core::DialOutcome::connected)] = 8;
  orders.retry_budget_denied = 5;
  orders.backends = {made_backend("pg-a"), made_backend("pg-b", 1)};
  Snapshot::Pool cache;
  cache.name = "cache";
  cache.consistent = true;
  cache.backends = {made_backend("redis")};
  snapshot.pools = {orders, cache};
  return snapshot;
}

}  // namespace weir::admin
