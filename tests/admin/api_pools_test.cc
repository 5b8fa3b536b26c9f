#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/admin/asking.h"

using namespace weir;
using namespace weir::admin;
using namespace std::chrono_literals;
using core::DialOutcome;

namespace {

std::vector<std::string> keys(const Tree& tree) {
  std::vector<std::string> found;
  for (const auto& [key, value] : tree.items()) found.push_back(key);
  return found;
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("GET /v1/pools shows every pool with its admission, verdict and backends") {
  Desk desk;
  const Tree pools = desk.tree("/v1/pools")["pools"];
  REQUIRE(pools.size() == 2);
  Tree orders = pools[0];
  CHECK(keys(orders) == Keys{"name", "balance", "verdict", "admission", "eligible", "consistent",
                             "retries", "retry_budget_denied", "dial_times", "queue_times",
                             "totals", "backends"});
  CHECK(orders["backends"].size() == 2);
  orders.erase("backends");
  CHECK(orders == Tree::parse(R"({"name":"orders","balance":"round_robin","verdict":"ok",)"
                              R"("admission":{"active":4,"pending":3,"max_active":90,)"
                              R"("max_pending":80,"rejected":{"proxy_overloaded":2}},)"
                              R"("eligible":2,"consistent":true,"retries":{"connected":8},)"
                              R"("retry_budget_denied":5,)"
                              R"("dial_times":{"count":0,"sum_us":0,"ranges":[]},)"
                              R"("queue_times":{"count":0,"sum_us":0,"ranges":[]},)"
                              R"("totals":{"dials":{},"transitions":{},"checks":{}}})"));
  CHECK(desk.tree("/v1/pools/orders") == pools[0]);
  CHECK(desk.tree("/v1/pools/cache") == pools[1]);
}

TEST_CASE("a backend shows its gauges, its circuit and its totals") {
  Desk desk;
  auto& backend = desk.control.snapshot_.pools[0].backends[0];
  backend.weight = 2;
  backend.active = 4;
  backend.dialing = 1;
  backend.max_active = 50;
  backend.dials[static_cast<std::size_t>(DialOutcome::connected)] = 20;
  backend.dials[static_cast<std::size_t>(DialOutcome::refused)] = 9;
  backend.dials[static_cast<std::size_t>(DialOutcome::cancelled)] = 1;
  backend.circuit.fails = 2;
  backend.circuit.rejects = 6;
  backend.circuit.stale_results = 7;
  backend.circuit.open_until = backend.circuit.half_open_until =
      core::TimePoint(2000s);  // long ago
  backend.circuit.transitions = {3, 4, 0};
  CHECK(desk.get("/v1/pools/orders/backends/pg-a").body ==
        R"({"name":"pg-a","address":"127.0.0.1:5432","weight":2,"priority":0,)"
        R"("state":"available","active":4,"dialing":1,"max_active":50,"drain_until":null,)"
        R"("removed":false,"circuit":{"phase":"closed","epoch":1,"fails":2,"open_until":null,)"
        R"("half_open_until":null,"probes_in_flight":0,"probes_remaining":0,"bypassed":false,)"
        R"("forced_open":false,"enabled":true,"probe_due":false,"rejects":6,)"
        R"("transitions":{"closed":3,"open":4}},"health":null,"totals":{"dials":30,)"
        R"("connected":20,"failures":{"refused":9,"cancelled":1},"stale_results":7}})"
        "\n");
  backend.removed = true;
  backend.drain_until = core::TimePoint(1001s);
  const Tree leaving = desk.tree("/v1/pools/orders/backends/pg-a");
  CHECK(leaving["removed"] == true);
  CHECK(leaving["drain_until"] == "2026-11-30T12:00:01.000Z");
}

TEST_CASE("a circuit shows the deadlines of its phase as times of day") {
  Desk desk;
  auto& circuit = desk.control.snapshot_.pools[0].backends[0].circuit;
  const auto shown = [&desk] { return desk.tree("/v1/pools/orders/backends/pg-a")["circuit"]; };
  circuit.phase = core::CircuitPhase::open;
  circuit.open_until = core::TimePoint(1010s + 600ms);
  CHECK(shown()["phase"] == "open");
  CHECK(shown()["open_until"] == "2026-11-30T12:00:10.600Z");
  CHECK(shown()["half_open_until"].is_null());
  circuit.open_until = core::TimePoint(999s + 1us);  // past, and a probe is due
  circuit.probe_due = true;
  CHECK(shown()["open_until"] == "2026-11-30T11:59:59.000Z");
  CHECK(shown()["probe_due"] == true);
  circuit.forced_open = true;
  CHECK(shown()["open_until"].is_null());
  CHECK(shown()["forced_open"] == true);
  circuit = {};
  circuit.phase = core::CircuitPhase::half_open;
  circuit.half_open_until = core::TimePoint(1001s);
  circuit.probes_in_flight = 2;
  circuit.probes_remaining = 3;
  circuit.bypassed = true;
  circuit.enabled = false;
  CHECK(shown()["half_open_until"] == "2026-11-30T12:00:01.000Z");
  CHECK(shown()["open_until"].is_null());
  CHECK(shown()["probes_in_flight"] == 2);
  CHECK(shown()["probes_remaining"] == 3);
  CHECK(shown()["bypassed"] == true);
  CHECK(shown()["enabled"] == false);
  circuit.probes_remaining = core::CircuitStatus::kUnbounded;
  CHECK(shown()["probes_remaining"].is_null());
}

TEST_CASE("active checks show their last outcome and when it was, null before the first") {
  Desk desk;
  auto& backend = desk.control.snapshot_.pools[0].backends[0];
  backend.health.emplace();
  CHECK(desk.tree("/v1/pools/orders/backends/pg-a")["health"] ==
        Tree::parse(R"({"state":"healthy","consecutive":0,"checks":{},"last":null,)"
                    R"("last_at":null})"));
  backend.health->state = core::HealthState::unhealthy;
  backend.health->consecutive = 1;
  backend.health->checks[static_cast<std::size_t>(DialOutcome::refused)] = 3;
  backend.health->last = DialOutcome::connected;
  backend.health->last_at = core::TimePoint(998s);
  CHECK(desk.tree("/v1/pools/orders/backends/pg-a")["health"] ==
        Tree::parse(R"({"state":"unhealthy","consecutive":1,"checks":{"refused":3},)"
                    R"("last":"connected","last_at":"2026-11-30T11:59:58.000Z"})"));
}

TEST_CASE("an address with any byte in it leaves the answer JSON") {
  Desk desk;
  desk.control.snapshot_.pools[0].backends[0].address = "unix:/run/a \"b\"\\c\n\xff.sock";
  CHECK(desk.tree("/v1/pools/orders/backends/pg-a")["address"] ==
        "unix:/run/a \"b\"\\c\n\xEF\xBF\xBD.sock");
}

TEST_CASE("GET /v1/health says a word for each pool and shows every circuit") {
  Desk desk;
  auto& backend = desk.control.snapshot_.pools[1].backends[0];
  backend.circuit.phase = core::CircuitPhase::open;
  backend.state = upstream::BackendState::circuit_open;
  const Tree pools = desk.tree("/v1/health")["pools"];
  REQUIRE(pools.size() == 2);
  CHECK(pools[0]["verdict"] == "ok");
  CHECK(pools[1]["name"] == "cache");
  CHECK(pools[1]["verdict"] == "down");
  CHECK(pools[1]["eligible"] == 0);
  const Tree& shown = pools[1]["backends"][0];
  CHECK(keys(shown) == Keys{"name", "state", "circuit"});
  CHECK(shown["state"] == "circuit_open");
  CHECK(shown["circuit"]["phase"] == "open");
}

TEST_CASE("GET /v1/why asks of one pool") {
  Desk desk;
  auto& backend = desk.control.snapshot_.pools[0].backends[0];
  backend.circuit.phase = core::CircuitPhase::open;
  backend.circuit.open_until = core::TimePoint(1010s);
  backend.state = upstream::BackendState::circuit_open;
  CHECK(desk.get("/v1/why?pool=orders").body ==
        R"({"pool":"orders","verdict":"degraded","backends":[{"name":"pg-a","priority":0,)"
        R"("eligible":false,"gate":"circuit","state":"circuit_open",)"
        R"("until":"2026-11-30T12:00:10.000Z","hint":"the next client after )"
        R"(2026-11-30T12:00:10.000Z is the probe; weirctl circuit orders/pg-a close lets )"
        R"(clients in now"},{"name":"pg-b","priority":1,"eligible":true,"gate":null,)"
        R"("state":"available","until":null,"hint":null}]})"
        "\n");
  CHECK(desk.refusal("/v1/why") == "400 bad_request which pool? /v1/why?pool=NAME");
  CHECK(desk.refusal("/v1/why?pool=x") ==
        "404 not_found no pool is named x; pools are orders, cache");
}

TEST_CASE("what is not there is answered with what is") {
  Desk desk;
  CHECK(desk.refusal("/v1/pools/x") == "404 not_found no pool is named x; pools are orders, cache");
  CHECK(desk.refusal("/v1/pools/orders/backends/x") ==
        "404 not_found pool orders has no backend named x; its backends are pg-a, pg-b");
  auto& backends = desk.control.snapshot_.pools[0].backends;
  for (int i = 0; i < 30; ++i) backends.push_back(made_backend("b" + std::to_string(i)));
  const std::string many = desk.refusal("/v1/pools/orders/backends/x");
  CHECK(many.find(", b17 and 12 more") != std::string::npos);
  desk.control.snapshot_.pools.clear();
  CHECK(desk.refusal("/v1/pools/x") == "404 not_found no pool is named x; pools are none");
}

TEST_CASE("of two backends of one name the one that stays is meant") {
  Desk desk;
  auto& backends = desk.control.snapshot_.pools[0].backends;
  Snapshot::Backend old = made_backend("pg-a");
  old.removed = true;
  old.address = "10.0.0.1:1";
  backends.insert(backends.begin(), old);
  CHECK(desk.tree("/v1/pools/orders/backends/pg-a")["removed"] == false);
  std::swap(backends[0], backends[1]);
  CHECK(desk.tree("/v1/pools/orders/backends/pg-a")["removed"] == false);
  CHECK(desk.tree("/v1/pools/orders")["backends"].size() == 3);
}
