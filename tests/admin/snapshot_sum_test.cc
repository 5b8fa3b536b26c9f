// The counts of several processes of one weir, as one.
#include <doctest/doctest.h>

#include <exception>
#include <string>

#include "tests/admin/made_snapshot.h"

using namespace weir;
using namespace weir::admin;
using core::CloseReason;
using core::DialOutcome;

namespace {

// One in which every count is another.
Snapshot full_snapshot() {
  Snapshot snapshot = made_snapshot();
  snapshot.listeners[0].accepted = 1000;
  std::uint64_t next = 1;
  for (auto& count : snapshot.listeners[0].closed) count = next++;
  for (auto& count : snapshot.listeners[0].accept_errors) count = next++;
  for (Snapshot::Pool& pool : snapshot.pools) {
    for (auto& count : pool.retries) count = next++;
    for (Snapshot::Backend& backend : pool.backends) {
      backend.active = next++;
      backend.dialing = next++;
      for (auto& count : backend.dials) count = next++;
      for (auto& count : backend.circuit.transitions) count = next++;
      backend.circuit.rejects = next++;
      backend.circuit.stale_results = next++;
    }
  }
  auto& health = snapshot.pools[0].backends[0].health.emplace();
  for (auto& count : health.checks) count = next++;
  return snapshot;
}

// What is counted, and nothing that is not.
void same_counts(const Snapshot& a, const Snapshot& b, std::uint64_t times = 1) {
  REQUIRE(a.listeners.size() == b.listeners.size());
  for (std::size_t i = 0; i < a.listeners.size(); ++i) {
    CHECK(a.listeners[i].accepted == times * b.listeners[i].accepted);
    CHECK(a.listeners[i].bytes_in == times * b.listeners[i].bytes_in);
    CHECK(a.listeners[i].bytes_out == times * b.listeners[i].bytes_out);
    CHECK(a.listeners[i].closed_total() == times * b.listeners[i].closed_total());
    CHECK(a.listeners[i].accept_errors[0] == times * b.listeners[i].accept_errors[0]);
  }
  REQUIRE(a.pools.size() == b.pools.size());
  for (std::size_t i = 0; i < a.pools.size(); ++i) {
    CHECK(a.pools[i].rejected_as(CloseReason::proxy_overloaded) ==
          times * b.pools[i].rejected_as(CloseReason::proxy_overloaded));
    CHECK(a.pools[i].retry_budget_denied == times * b.pools[i].retry_budget_denied);
    REQUIRE(a.pools[i].backends.size() == b.pools[i].backends.size());
    for (std::size_t j = 0; j < a.pools[i].backends.size(); ++j) {
      const auto& x = a.pools[i].backends[j];
      const auto& y = b.pools[i].backends[j];
      for (std::size_t k = 0; k < core::kDialOutcomes; ++k) {
        CHECK(x.dials[k] == times * y.dials[k]);
        CHECK(a.pools[i].retries[k] == times * b.pools[i].retries[k]);
      }
      CHECK(x.circuit.rejects == times * y.circuit.rejects);
      CHECK(x.circuit.stale_results == times * y.circuit.stale_results);
      for (std::size_t k = 0; k < x.circuit.transitions.size(); ++k) {
        CHECK(x.circuit.transitions[k] == times * y.circuit.transitions[k]);
      }
      CHECK(x.health.has_value() == y.health.has_value());
      if (x.health && y.health) CHECK(x.health->checks[1] == times * y.health->checks[1]);
    }
  }
}

}  // namespace

TEST_CASE("a snapshot is read from its own JSON, counts and gauges") {
  const Snapshot made = full_snapshot();
  const Snapshot read = Snapshot::from_json(made.json());
  same_counts(read, made);
  CHECK(read.sessions == made.sessions);
  CHECK(read.access_log_dropped == made.access_log_dropped);
  CHECK(read.open_fds == made.open_fds);
  CHECK(read.listener("orders").connections == made.listener("orders").connections);
  CHECK(read.pool("orders").active == made.pool("orders").active);
  CHECK(read.pool("orders").pending == made.pool("orders").pending);
  CHECK(read.backend("orders", "pg-b").active == made.backend("orders", "pg-b").active);
  CHECK(read.backend("orders", "pg-b").dialing == made.backend("orders", "pg-b").dialing);
}

TEST_CASE("what is no snapshot throws, wherever it breaks off") {
  const std::string text = full_snapshot().json();
  for (std::size_t length = 0; length < text.size(); length += 7) {
    CHECK_THROWS_AS(static_cast<void>(Snapshot::from_json(text.substr(0, length))), std::exception);
  }
  for (const char* nonsense : {"{}", "[]", "null", R"({"sessions":1})"}) {
    CHECK_THROWS_AS(static_cast<void>(Snapshot::from_json(nonsense)), std::exception);
  }
  std::string unknown = text;
  unknown.replace(unknown.find("client_closed"), 13, "client_clozed");
  CHECK_THROWS_AS(static_cast<void>(Snapshot::from_json(unknown)), std::exception);
}

TEST_CASE("with gauges everything of the other is added, and no limit is") {
  Snapshot sum = full_snapshot();
  const Snapshot other = full_snapshot();
  sum.add(other, true);
  same_counts(sum, other, 2);
  CHECK(sum.sessions == 2 * other.sessions);
  CHECK(sum.listener("orders").connections == 2 * other.listener("orders").connections);
  CHECK(sum.pool("orders").active == 2 * other.pool("orders").active);
  CHECK(sum.pool("orders").pending == 2 * other.pool("orders").pending);
  CHECK(sum.pool("orders").max_active == other.pool("orders").max_active);
  CHECK(sum.listener("orders").max_connections == other.listener("orders").max_connections);
  CHECK(sum.backend("orders", "pg-a").active == 2 * other.backend("orders", "pg-a").active);
}

TEST_CASE("without gauges only the totals of the other are added") {
  Snapshot sum = full_snapshot();
  const Snapshot other = full_snapshot();
  sum.add(other, false);
  same_counts(sum, other, 2);
  CHECK(sum.sessions == other.sessions);
  CHECK(sum.listener("orders").connections == other.listener("orders").connections);
  CHECK(sum.pool("orders").active == other.pool("orders").active);
  CHECK(sum.backend("orders", "pg-a").active == other.backend("orders", "pg-a").active);
}

TEST_CASE("what only the other has is shown as leaving while it has sessions") {
  Snapshot other = full_snapshot();
  Snapshot sum = full_snapshot();
  sum.listeners.clear();
  sum.pools.pop_back();
  sum.pools[0].backends.pop_back();
  Snapshot totals = sum;
  other.pools[1].active = 1;
  sum.add(other, true);
  CHECK(sum.listener("orders").draining);
  CHECK(sum.pool("cache").removed);
  CHECK(sum.backend("orders", "pg-b").removed);
  CHECK(sum.backend("orders", "pg-b").state == upstream::BackendState::draining);
  totals.add(other, false);
  CHECK(totals.listeners.empty());
  CHECK(totals.pools.size() == 1);
  CHECK(totals.pools[0].backends.size() == 1);
}

TEST_CASE("a backend of the same name at another address is another backend") {
  Snapshot other = full_snapshot();
  other.pools[0].backends[0].address = "127.0.0.1:9999";
  Snapshot sum = full_snapshot();
  const std::uint64_t before = sum.pools[0].backends[0].active;
  sum.add(other, true);
  CHECK(sum.pools[0].backends[0].active == before);
  REQUIRE(sum.pools[0].backends.size() == 3);
  CHECK(sum.pools[0].backends[2].removed);
}
