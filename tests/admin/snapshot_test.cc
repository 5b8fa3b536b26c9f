#include "weir/admin/snapshot.h"

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/net/tiny_json.h"

using namespace weir;
using namespace weir::admin;
using namespace std::chrono_literals;
using core::CloseReason;
using core::DialOutcome;
using Keys = std::vector<std::string>;

namespace {

Snapshot made() {
  Snapshot snapshot;
  snapshot.sessions = 3;
  snapshot.access_log_dropped = 7;
  snapshot.open_fds = 40;
  Snapshot::Listener orders;
  orders.name = "orders";
  orders.connections = 2;
  orders.accepted = 18446744073709551615ULL;
  orders.bytes_in = 11;
  orders.bytes_out = 12;
  orders.closed[static_cast<std::size_t>(CloseReason::client_closed)] = 5;
  orders.closed[static_cast<std::size_t>(CloseReason::shutdown)] = 6;
  orders.accept_errors[static_cast<std::size_t>(net::AcceptError::fd_limit)] = 1;
  snapshot.listeners = {orders, {}};
  snapshot.listeners[1].name = "quiet";
  snapshot.taken = core::TimePoint(1000s);
  snapshot.taken_at = net::WallTime(1'790'000'000'007ms);
  Snapshot::Backend a;
  a.name = "a";
  a.address = "127.0.0.1:5432";
  a.weight = 2;
  a.priority = 7;
  a.active = 4;
  a.dialing = 1;
  a.dials[static_cast<std::size_t>(DialOutcome::refused)] = 9;
  Snapshot::Pool& pool = snapshot.pools.emplace_back();
  pool.name = "main";
  pool.active = 4;
  pool.pending = 3;
  pool.rejected[static_cast<std::size_t>(CloseReason::proxy_overloaded)] = 2;
  pool.retries[static_cast<std::size_t>(DialOutcome::connected)] = 8;
  pool.retry_budget_denied = 5;
  pool.max_active = 90;
  pool.max_pending = 80;
  Snapshot::Backend b;
  b.name = "b";
  b.address = "[::1]:5432";
  b.state = upstream::BackendState::disabled;
  pool.backends = {a, b};
  return snapshot;
}

}  // namespace

TEST_CASE("a snapshot is one JSON object on one line") {
  const std::string text = made().json();
  CHECK(text.find('\n') == std::string::npos);
  const Json json = JsonReader::read(text);
  CHECK(json.keys() == Keys{"sessions", "listeners", "pools", "access_log_dropped", "open_fds"});
  CHECK(json["sessions"].count() == 3);
  CHECK(json["access_log_dropped"].count() == 7);
  CHECK(json["open_fds"].count() == 40);
}

TEST_CASE("a listener's counts by reason list only those above 0") {
  const Json json = JsonReader::read(made().json());
  REQUIRE(json["listeners"].items.size() == 2);
  const Json& orders = json["listeners"].items[0];
  CHECK(orders.keys() == Keys{"name", "connections", "accepted", "accept_errors", "closed",
                              "bytes_in", "bytes_out"});
  CHECK(orders["name"].text == "orders");
  CHECK(orders["connections"].count() == 2);
  CHECK(orders["accepted"].count() == 18446744073709551615ULL);
  CHECK(orders["accept_errors"].keys() == Keys{"fd_limit"});
  CHECK(orders["closed"].keys() == Keys{"client_closed", "shutdown"});
  CHECK(orders["closed"]["shutdown"].count() == 6);
  CHECK(orders["bytes_in"].count() == 11);
  CHECK(orders["bytes_out"].count() == 12);
  CHECK(json["listeners"].items[1]["closed"].names.empty());
}

TEST_CASE("a pool shows its backends with their gauges and dials") {
  const Json json = JsonReader::read(made().json());
  REQUIRE(json["pools"].items.size() == 1);
  const Json& pool = json["pools"].items[0];
  CHECK(pool.keys() == Keys{"name", "consistent", "active", "pending", "max_active", "max_pending",
                            "rejected", "retries", "retry_budget_denied", "backends"});
  CHECK(pool["consistent"].text == "false");  // nobody has said otherwise
  CHECK(pool["max_active"].count() == 90);
  CHECK(pool["max_pending"].count() == 80);
  CHECK(pool["active"].count() == 4);
  CHECK(pool["pending"].count() == 3);
  CHECK(pool["rejected"]["proxy_overloaded"].count() == 2);
  CHECK(pool["retries"].keys() == Keys{"connected"});
  CHECK(pool["retries"]["connected"].count() == 8);
  CHECK(pool["retry_budget_denied"].count() == 5);
  REQUIRE(pool["backends"].items.size() == 2);
  const Json& a = pool["backends"].items[0];
  CHECK(a.keys() == Keys{"name", "address", "weight", "priority", "state", "active", "dialing",
                         "dials", "circuit"});
  CHECK(a["weight"].count() == 2);
  CHECK(a["priority"].count() == 7);
  CHECK(a["state"].text == "available");
  CHECK(a["address"].text == "127.0.0.1:5432");
  CHECK(a["active"].count() == 4);
  CHECK(a["dialing"].count() == 1);
  CHECK(a["dials"]["refused"].count() == 9);
  CHECK(pool["backends"].items[1]["dials"].names.empty());
  CHECK(pool["backends"].items[1]["state"].text == "disabled");
}

TEST_CASE("a pool whose gauges fit each other says so") {
  Snapshot snapshot = made();
  snapshot.pools[0].consistent = true;
  CHECK(JsonReader::read(snapshot.json())["pools"].items[0]["consistent"].text == "true");
}

namespace {

Json circuit_json(const core::CircuitStatus& circuit) {
  Snapshot snapshot = made();
  snapshot.pools[0].backends[0].circuit = circuit;
  return JsonReader::read(snapshot.json())["pools"].items[0]["backends"].items[0]["circuit"];
}

}  // namespace

TEST_CASE("a closed circuit shows its counts and no deadlines") {
  core::CircuitStatus closed;
  closed.epoch = 5;
  closed.fails = 2;
  closed.rejects = 6;
  closed.stale_results = 7;
  closed.open_until = closed.half_open_until = core::TimePoint(2000s);  // of long ago
  closed.transitions = {3, 4, 0};
  const Json json = circuit_json(closed);
  CHECK(json.keys() == Keys{"phase", "epoch", "fails", "open_until", "half_open_until",
                            "probes_in_flight", "probes_remaining", "bypassed", "forced_open",
                            "rejects", "stale_results", "transitions"});
  CHECK(json["phase"].text == "closed");
  CHECK(json["epoch"].count() == 5);
  CHECK(json["fails"].count() == 2);
  CHECK(json["open_until"].kind == Json::Kind::null);
  CHECK(json["half_open_until"].kind == Json::Kind::null);
  CHECK(json["bypassed"].text == "false");
  CHECK(json["rejects"].count() == 6);
  CHECK(json["stale_results"].count() == 7);
  CHECK(json["transitions"].keys() == Keys{"closed", "open"});
  CHECK(json["transitions"]["open"].count() == 4);
}

TEST_CASE("an open circuit shows the time of day until which it is") {
  core::CircuitStatus open;
  open.phase = core::CircuitPhase::open;
  open.open_until = core::TimePoint(1010s + 600ms);
  CHECK(circuit_json(open)["open_until"].text == "2026-09-21T14:13:30.607Z");
  CHECK(circuit_json(open)["half_open_until"].kind == Json::Kind::null);
  // Past, and a probe due: still open, and a time before this snapshot's.
  open.open_until = core::TimePoint(999s + 1us);
  CHECK(circuit_json(open)["open_until"].text == "2026-09-21T14:13:19.007Z");
  open.forced_open = true;
  CHECK(circuit_json(open)["open_until"].kind == Json::Kind::null);
  CHECK(circuit_json(open)["forced_open"].text == "true");
}

TEST_CASE("a half-open circuit shows its bound and its probes, and null for any number of them") {
  core::CircuitStatus half_open;
  half_open.phase = core::CircuitPhase::half_open;
  half_open.half_open_until = core::TimePoint(1001s);
  half_open.probes_in_flight = 2;
  half_open.probes_remaining = 3;
  half_open.bypassed = true;
  const Json json = circuit_json(half_open);
  CHECK(json["phase"].text == "half_open");
  CHECK(json["open_until"].kind == Json::Kind::null);
  CHECK(json["half_open_until"].text == "2026-09-21T14:13:21.007Z");
  CHECK(json["probes_in_flight"].count() == 2);
  CHECK(json["probes_remaining"].count() == 3);
  CHECK(json["bypassed"].text == "true");
  half_open.probes_remaining = core::CircuitStatus::kUnbounded;
  CHECK(circuit_json(half_open)["probes_remaining"].kind == Json::Kind::null);
}

TEST_CASE("a backend with active checks shows what they say, one without says nothing of them") {
  Snapshot snapshot = made();
  upstream::HealthStatus health;
  health.state = core::HealthState::unhealthy;
  health.consecutive = 1;
  health.checks[static_cast<std::size_t>(DialOutcome::connected)] = 8;
  health.checks[static_cast<std::size_t>(DialOutcome::refused)] = 3;
  health.last = DialOutcome::connected;
  snapshot.pools[0].backends[0].health = health;
  snapshot.pools[0].backends[1].health = upstream::HealthStatus();
  const Json json = JsonReader::read(snapshot.json());
  const std::vector<Json>& backends = json["pools"].items[0]["backends"].items;
  const Json& a = backends[0]["health"];
  CHECK(a.keys() == Keys{"state", "consecutive", "checks", "last"});
  CHECK(a["state"].text == "unhealthy");
  CHECK(a["consecutive"].count() == 1);
  CHECK(a["checks"].keys() == Keys{"connected", "refused"});
  CHECK(a["checks"]["refused"].count() == 3);
  CHECK(a["last"].text == "connected");
  CHECK(backends[1]["health"].keys() == Keys{"state", "consecutive", "checks"});
  CHECK(backends[1]["health"]["state"].text == "healthy");
  CHECK_FALSE(JsonReader::read(made().json())["pools"].items[0]["backends"].items[0].has("health"));
}

TEST_CASE("a backend at a unix path with any byte in it leaves the snapshot one object") {
  Snapshot snapshot = made();
  const std::string odd = "unix:/run/a \"b\"\\c\n.sock";
  snapshot.pools[0].backends[0].address = odd;
  Json json;
  CHECK_NOTHROW(json = JsonReader::read(snapshot.json()));
  REQUIRE(json.has("pools"));
  CHECK(json["pools"].items[0]["backends"].items[0]["address"].text == odd);
}

TEST_CASE("parts of a snapshot are found by name, and a name that is not there is said") {
  const Snapshot snapshot = made();
  CHECK(snapshot.listener("orders").closed_as(CloseReason::client_closed) == 5);
  CHECK(snapshot.listener("orders").closed_total() == 11);
  CHECK(snapshot.listener("quiet").closed_total() == 0);
  CHECK(snapshot.pool("main").active == 4);
  CHECK(snapshot.backend("main", "a").dials_that(DialOutcome::refused) == 9);
  CHECK_THROWS_AS(static_cast<void>(snapshot.listener("other")), std::out_of_range);
  CHECK_THROWS_AS(static_cast<void>(snapshot.backend("main", "c")), std::out_of_range);
}
