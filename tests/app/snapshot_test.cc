#include "weir/app/snapshot.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/net/tiny_json.h"

using namespace weir;
using namespace weir::app;
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
  Snapshot::Backend a{"a", "127.0.0.1:5432", 4, 1, {}, {}, {}};
  a.dials[static_cast<std::size_t>(DialOutcome::refused)] = 9;
  Snapshot::Pool& pool = snapshot.pools.emplace_back();
  pool.name = "main";
  pool.active = 4;
  pool.pending = 3;
  pool.rejected[static_cast<std::size_t>(CloseReason::proxy_overloaded)] = 2;
  pool.backends = {a, {"b", "[::1]:5432", 0, 0, {}, {}, {}}};
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
  CHECK(pool.keys() == Keys{"name", "active", "pending", "rejected", "backends"});
  CHECK(pool["active"].count() == 4);
  CHECK(pool["pending"].count() == 3);
  CHECK(pool["rejected"]["proxy_overloaded"].count() == 2);
  REQUIRE(pool["backends"].items.size() == 2);
  const Json& a = pool["backends"].items[0];
  CHECK(a.keys() == Keys{"name", "address", "active", "dialing", "dials", "circuit"});
  CHECK(a["circuit"]["phase"].text == "closed");
  CHECK(a["address"].text == "127.0.0.1:5432");
  CHECK(a["active"].count() == 4);
  CHECK(a["dialing"].count() == 1);
  CHECK(a["dials"]["refused"].count() == 9);
  CHECK(pool["backends"].items[1]["dials"].names.empty());
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
