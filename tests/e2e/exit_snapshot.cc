#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/e2e/program.h"
#include "weir/core/close_reason.h"
#include "weir/core/dial_outcome.h"
#include "weir/net/acceptor.h"

namespace weir::e2e {
namespace {

using nlohmann::json;

// Counts by name; those that are absent are 0. A name of no list is a failure.
template <typename Key, std::size_t size>
void read_counts(const json& from, std::array<std::uint64_t, size>& into) {
  std::size_t known = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto found = from.find(name(static_cast<Key>(i)));
    if (found == from.end()) continue;
    found->get_to(into[i]);
    ++known;
  }
  if (known != from.size()) throw std::runtime_error("an unknown name in " + from.dump());
}

admin::Snapshot::Listener listener(const json& from) {
  admin::Snapshot::Listener read;
  from.at("name").get_to(read.name);
  from.at("connections").get_to(read.connections);
  from.at("accepted").get_to(read.accepted);
  from.at("bytes_in").get_to(read.bytes_in);
  from.at("bytes_out").get_to(read.bytes_out);
  read_counts<net::AcceptError>(from.at("accept_errors"), read.accept_errors);
  read_counts<core::CloseReason>(from.at("closed"), read.closed);
  return read;
}

upstream::HealthStatus health(const json& from) {
  upstream::HealthStatus read;
  const bool healthy = from.at("state") == name(core::HealthState::healthy);
  read.state = healthy ? core::HealthState::healthy : core::HealthState::unhealthy;
  from.at("consecutive").get_to(read.consecutive);
  read_counts<core::DialOutcome>(from.at("checks"), read.checks);
  return read;
}

// By outcome, as they were counted.
decltype(admin::Snapshot::Backend::dials) dials(const json& totals) {
  decltype(admin::Snapshot::Backend::dials) read{};
  read_counts<core::DialOutcome>(totals.at("failures"), read);
  totals.at("connected").get_to(read[static_cast<std::size_t>(core::DialOutcome::connected)]);
  const std::uint64_t sum = std::accumulate(read.begin(), read.end(), std::uint64_t{0});
  if (totals.at("dials") != sum) throw std::runtime_error("a sum is wrong in " + totals.dump());
  return read;
}

admin::Snapshot::Pool pool(const json& from) {
  admin::Snapshot::Pool read;
  from.at("name").get_to(read.name);
  from.at("consistent").get_to(read.consistent);
  const json& admission = from.at("admission");
  admission.at("active").get_to(read.active);
  admission.at("pending").get_to(read.pending);
  read_counts<core::CloseReason>(admission.at("rejected"), read.rejected);
  read_counts<core::DialOutcome>(from.at("retries"), read.retries);
  from.at("retry_budget_denied").get_to(read.retry_budget_denied);
  for (const json& each : from.at("backends")) {
    admin::Snapshot::Backend& backend = read.backends.emplace_back();
    each.at("name").get_to(backend.name);
    each.at("address").get_to(backend.address);
    each.at("active").get_to(backend.active);
    each.at("dialing").get_to(backend.dialing);
    backend.dials = dials(each.at("totals"));
    each.at("circuit").at("probes_in_flight").get_to(backend.circuit.probes_in_flight);
    if (!each.at("health").is_null()) backend.health = health(each.at("health"));
  }
  return read;
}

admin::Snapshot snapshot(const json& from) {
  admin::Snapshot read;
  from.at("sessions").get_to(read.sessions);
  from.at("access_log_dropped").get_to(read.access_log_dropped);
  from.at("open_fds").get_to(read.open_fds);
  for (const json& each : from.at("listeners")) read.listeners.push_back(listener(each));
  for (const json& each : from.at("pools")) read.pools.push_back(pool(each));
  return read;
}

}  // namespace

admin::Snapshot exit_snapshot(const std::string& errors, At at) {
  const auto begin = errors.find(R"({"event":"exit_snapshot")");
  if (begin == std::string::npos) {
    throw ScriptFailure("no exit snapshot in\n" + errors, at);
  }
  const std::string line = errors.substr(begin, errors.find('\n', begin) - begin);
  try {
    return snapshot(json::parse(line).at("snapshot"));
  } catch (const std::exception& error) {
    throw ScriptFailure(std::string(error.what()) + " in " + line, at);
  }
}

}  // namespace weir::e2e
