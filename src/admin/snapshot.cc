#include "weir/admin/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "weir/core/json.h"

namespace weir::admin {
namespace {

const std::string kNull = "null";

template <typename Item>
const Item& find(const std::vector<Item>& items, const std::string& name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&name](const Item& item) { return item.name == name; });
  if (found == items.end()) throw std::out_of_range("no " + name + " in this snapshot");
  return *found;
}

template <typename Key, std::size_t size>
std::string counts(const std::array<std::uint64_t, size>& values) {
  std::string text = "{";
  for (std::size_t i = 0; i < size; ++i) {
    if (values[i] == 0) continue;
    fmt::format_to(std::back_inserter(text), R"({}"{}":{})", text.size() > 1 ? "," : "",
                   name(static_cast<Key>(i)), values[i]);
  }
  return text + "}";
}

std::string json(const Snapshot::Listener& listener) {
  return fmt::format(
      R"({{"name":"{}","connections":{},"accepted":{},"accept_errors":{},"closed":{},"bytes_in":{},"bytes_out":{}}})",
      listener.name, listener.connections, listener.accepted,
      counts<net::AcceptError>(listener.accept_errors), counts<core::CloseReason>(listener.closed),
      listener.bytes_in, listener.bytes_out);
}

// A moment on the circuits' clock as the time of day that it has or will have.
std::string time_of_day(const Snapshot& snapshot, core::TimePoint moment) {
  const auto ahead = std::chrono::floor<std::chrono::milliseconds>(moment - snapshot.taken);
  std::string text = "\"";
  net::WallClock().append(text, snapshot.taken_at + ahead);
  return text + '"';
}

// In other phases a circuit still knows its last deadlines, which would mislead whoever reads them.
std::string json(const core::CircuitStatus& circuit, const Snapshot& snapshot) {
  const bool open = circuit.phase == core::CircuitPhase::open && !circuit.forced_open;
  const bool half_open = circuit.phase == core::CircuitPhase::half_open;
  const bool bounded = circuit.probes_remaining != core::CircuitStatus::kUnbounded;
  return fmt::format(
      R"({{"phase":"{}","epoch":{},"fails":{},"open_until":{},"half_open_until":{},)"
      R"("probes_in_flight":{},"probes_remaining":{},"bypassed":{},"forced_open":{},)"
      R"("rejects":{},"stale_results":{},"transitions":{}}})",
      name(circuit.phase), circuit.epoch, circuit.fails,
      open ? time_of_day(snapshot, circuit.open_until) : kNull,
      half_open ? time_of_day(snapshot, circuit.half_open_until) : kNull, circuit.probes_in_flight,
      bounded ? std::to_string(circuit.probes_remaining) : kNull, circuit.bypassed,
      circuit.forced_open, circuit.rejects, circuit.stale_results,
      counts<core::CircuitPhase>(circuit.transitions));
}

// With its comma; empty without active checks.
std::string health_member(const std::optional<upstream::HealthStatus>& health) {
  if (!health) return {};
  return fmt::format(R"(,"health":{{"state":"{}","consecutive":{},"checks":{}{}}})",
                     name(health->state), health->consecutive,
                     counts<core::DialOutcome>(health->checks),
                     health->last ? fmt::format(R"(,"last":"{}")", name(*health->last)) : "");
}

std::string json(const Snapshot::Backend& backend, const Snapshot& snapshot) {
  return fmt::format(R"({{"name":"{}","address":"{}","weight":{},"priority":{},"state":"{}",)"
                     R"("active":{},"dialing":{},"dials":{},"circuit":{}{}}})",
                     backend.name, core::json_escaped(backend.address), backend.weight,
                     backend.priority, name(backend.state), backend.active, backend.dialing,
                     counts<core::DialOutcome>(backend.dials), json(backend.circuit, snapshot),
                     health_member(backend.health));
}

std::string json(const Snapshot::Pool& pool, const Snapshot& snapshot);

template <typename Item, typename... Context>
std::string list(const std::vector<Item>& items, const Context&... context) {
  std::string text = "[";
  for (const Item& item : items) text += (text.size() > 1 ? "," : "") + json(item, context...);
  return text + "]";
}

std::string json(const Snapshot::Pool& pool, const Snapshot& snapshot) {
  return fmt::format(
      R"({{"name":"{}","consistent":{},"active":{},"pending":{},"max_active":{},"max_pending":{},)"
      R"("rejected":{},"retries":{},"retry_budget_denied":{},"backends":{}}})",
      pool.name, pool.consistent, pool.active, pool.pending, pool.max_active, pool.max_pending,
      counts<core::CloseReason>(pool.rejected), counts<core::DialOutcome>(pool.retries),
      pool.retry_budget_denied, list(pool.backends, snapshot));
}

}  // namespace

std::uint64_t Snapshot::Listener::closed_total() const {
  return std::accumulate(closed.begin(), closed.end(), std::uint64_t{0});
}

const Snapshot::Listener& Snapshot::listener(const std::string& name) const {
  return find(listeners, name);
}

const Snapshot::Pool& Snapshot::pool(const std::string& name) const { return find(pools, name); }

const Snapshot::Backend& Snapshot::backend(const std::string& pool_name,
                                           const std::string& name) const {
  return find(pool(pool_name).backends, name);
}

std::string Snapshot::json() const {
  return fmt::format(
      R"({{"sessions":{},"listeners":{},"pools":{},"access_log_dropped":{},"open_fds":{}}})",
      sessions, list(listeners), list(pools, *this), access_log_dropped, open_fds);
}

}  // namespace weir::admin
