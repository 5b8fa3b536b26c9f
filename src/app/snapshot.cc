#include "weir/app/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "weir/core/json.h"

namespace weir::app {
namespace {

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

std::string json(const core::CircuitStatus& circuit) {
  return fmt::format(
      R"({{"phase":"{}","epoch":{},"fails":{},"probes_in_flight":{},"rejects":{},"stale_results":{}}})",
      name(circuit.phase), circuit.epoch, circuit.fails, circuit.probes_in_flight, circuit.rejects,
      circuit.stale_results);
}

// With its comma; empty without active checks.
std::string health_member(const std::optional<upstream::HealthStatus>& health) {
  if (!health) return {};
  return fmt::format(R"(,"health":{{"state":"{}","consecutive":{},"checks":{}{}}})",
                     name(health->state), health->consecutive,
                     counts<core::DialOutcome>(health->checks),
                     health->last ? fmt::format(R"(,"last":"{}")", name(*health->last)) : "");
}

std::string json(const Snapshot::Backend& backend) {
  return fmt::format(
      R"({{"name":"{}","address":"{}","active":{},"dialing":{},"dials":{},"circuit":{}{}}})",
      backend.name, core::json_escaped(backend.address), backend.active, backend.dialing,
      counts<core::DialOutcome>(backend.dials), json(backend.circuit),
      health_member(backend.health));
}

std::string json(const Snapshot::Pool& pool);

template <typename Item>
std::string list(const std::vector<Item>& items) {
  std::string text = "[";
  for (const Item& item : items) text += (text.size() > 1 ? "," : "") + json(item);
  return text + "]";
}

std::string json(const Snapshot::Pool& pool) {
  return fmt::format(R"({{"name":"{}","active":{},"pending":{},"rejected":{},"backends":{}}})",
                     pool.name, pool.active, pool.pending, counts<core::CloseReason>(pool.rejected),
                     list(pool.backends));
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
      sessions, list(listeners), list(pools), access_log_dropped, open_fds);
}

}  // namespace weir::app
