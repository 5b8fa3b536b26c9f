// A snapshot from its own JSON: what another process of weir says of itself. Times are left out.

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "weir/admin/snapshot.h"
#include "weir/core/close_reason.h"
#include "weir/core/dial_outcome.h"
#include "weir/net/acceptor.h"

namespace weir::admin {
namespace {

using Json = nlohmann::json;

// Counts by name; those that are absent are 0. A name of no list is an error.
template <typename Key, std::size_t size>
void read_counts(const Json& from, std::array<std::uint64_t, size>& into) {
  std::size_t known = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto found = from.find(name(static_cast<Key>(i)));
    if (found == from.end()) continue;
    found->get_to(into[i]);
    ++known;
  }
  if (known != from.size()) throw std::runtime_error("an unknown name in " + from.dump());
}

Snapshot::Listener read_listener(const Json& from) {
  Snapshot::Listener read;
  from.at("name").get_to(read.name);
  from.at("connections").get_to(read.connections);
  from.at("accepted").get_to(read.accepted);
  from.at("bytes_in").get_to(read.bytes_in);
  from.at("bytes_out").get_to(read.bytes_out);
  read_counts<net::AcceptError>(from.at("accept_errors"), read.accept_errors);
  read_counts<core::CloseReason>(from.at("closed"), read.closed);
  return read;
}

upstream::HealthStatus health(const Json& from) {
  upstream::HealthStatus read;
  const bool healthy = from.at("state") == name(core::HealthState::healthy);
  read.state = healthy ? core::HealthState::healthy : core::HealthState::unhealthy;
  from.at("consecutive").get_to(read.consecutive);
  read_counts<core::DialOutcome>(from.at("checks"), read.checks);
  return read;
}

// By outcome, as they were counted.
decltype(Snapshot::Backend::dials) dials(const Json& totals) {
  decltype(Snapshot::Backend::dials) read{};
  read_counts<core::DialOutcome>(totals.at("failures"), read);
  totals.at("connected").get_to(read[static_cast<std::size_t>(core::DialOutcome::connected)]);
  const std::uint64_t sum = std::accumulate(read.begin(), read.end(), std::uint64_t{0});
  if (totals.at("dials") != sum) throw std::runtime_error("a sum is wrong in " + totals.dump());
  return read;
}

Snapshot::Backend backend(const Json& from) {
  Snapshot::Backend read;
  from.at("name").get_to(read.name);
  from.at("address").get_to(read.address);
  from.at("active").get_to(read.active);
  from.at("dialing").get_to(read.dialing);
  from.at("removed").get_to(read.removed);
  read.dials = dials(from.at("totals"));
  from.at("totals").at("stale_results").get_to(read.circuit.stale_results);
  const Json& circuit = from.at("circuit");
  circuit.at("probes_in_flight").get_to(read.circuit.probes_in_flight);
  circuit.at("rejects").get_to(read.circuit.rejects);
  read_counts<core::CircuitPhase>(circuit.at("transitions"), read.circuit.transitions);
  if (!from.at("health").is_null()) read.health = health(from.at("health"));
  return read;
}

core::HistogramCounts times(const Json& from) {
  core::HistogramCounts read;
  from.at("sum_us").get_to(read.microseconds);
  for (const Json& range : from.at("ranges")) {
    std::size_t place = core::kHistogramBounds.size();
    if (!range.at("up_to_s").is_null()) {
      const std::chrono::duration<double> bound(range.at("up_to_s").get<double>());
      place = 0;
      while (place < core::kHistogramBounds.size() &&
             core::kHistogramBounds[place] + std::chrono::microseconds(1) < bound) {
        ++place;
      }
    }
    range.at("count").get_to(read.counts[place]);
  }
  return read;
}

Snapshot::Pool read_pool(const Json& from) {
  Snapshot::Pool read;
  from.at("name").get_to(read.name);
  from.at("consistent").get_to(read.consistent);
  const Json& admission = from.at("admission");
  admission.at("active").get_to(read.active);
  admission.at("pending").get_to(read.pending);
  read_counts<core::CloseReason>(admission.at("rejected"), read.rejected);
  read_counts<core::DialOutcome>(from.at("retries"), read.retries);
  from.at("retry_budget_denied").get_to(read.retry_budget_denied);
  read.dial_times = times(from.at("dial_times"));
  read.queue_times = times(from.at("queue_times"));
  const Json& totals = from.at("totals");
  read_counts<core::DialOutcome>(totals.at("dials"), read.totals.dials);
  read_counts<core::CircuitPhase>(totals.at("transitions"), read.totals.transitions);
  read_counts<core::DialOutcome>(totals.at("checks"), read.totals.checks);
  for (const Json& each : from.at("backends")) read.backends.push_back(backend(each));
  return read;
}

}  // namespace

Snapshot Snapshot::from_json(const std::string& text) {
  const Json from = Json::parse(text);
  Snapshot read;
  from.at("sessions").get_to(read.sessions);
  from.at("access_log_dropped").get_to(read.access_log_dropped);
  from.at("open_fds").get_to(read.open_fds);
  for (const Json& each : from.at("listeners")) read.listeners.push_back(read_listener(each));
  for (const Json& each : from.at("pools")) read.pools.push_back(read_pool(each));
  return read;
}

}  // namespace weir::admin
