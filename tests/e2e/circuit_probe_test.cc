#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/e2e/circuits.h"
#include "tests/e2e/fickle_backend.h"
#include "tests/e2e/orders.h"

// Probes that end without a verdict, and clients who come while one is under way.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::CloseReason;
using core::DialOutcome;

constexpr milliseconds kOpenTime(700);

std::string yaml(int workers, const std::vector<PoolMember>& backends,
                 const std::string& more = {}) {
  return circuits_yaml(workers, circuit_keys(1, kOpenTime, more), backends, "connect: 60s");
}

// The circuit has opened, its time is over, and the next dial will hang.
Backend& ready_to_hang(const TestWeir& weir, FickleBackend& server, std::size_t& clients) {
  server.die();
  one_client(weir, clients);
  CHECK(circuit(weir).phase == CircuitPhase::open);
  Backend& hole = server.hang();
  wait_for_probe_due(weir, "b1");
  return hole;
}

void expect_free_slot(const TestWeir& weir) {
  wait_for_dialing(weir, 0);
  CHECK(circuit(weir).phase == CircuitPhase::half_open);
  CHECK(circuit(weir).probes_in_flight == 0);
  CHECK(circuit(weir).probes_remaining == 1);
}

// The next client closes the circuit, with one dial.
void expect_next_closes(const TestWeir& weir, std::size_t& clients) {
  const std::uint64_t dials = dials_that(weir, DialOutcome::connected);
  const std::uint64_t closings = times_entered(circuit(weir), CircuitPhase::closed);
  const LogEntry entry = one_client(weir, clients);
  CHECK(entry.reason == text(CloseReason::client_closed));
  CHECK(entry.backend == "b1");
  CHECK(dials_that(weir, DialOutcome::connected) == dials + 1);
  CHECK(circuit(weir).phase == CircuitPhase::closed);
  CHECK(times_entered(circuit(weir), CircuitPhase::closed) == closings + 1);
  CHECK(circuit(weir).probes_in_flight == 0);
  CHECK(circuit(weir).stale_results == 0);
}

TEST_CASE("BRK-01: whichever way a probe's client leaves, the next one closes the circuit") {
  struct Manner {
    void (*leave)(Stream&);
    CloseReason reason;
  };
  const std::vector<Manner> manners{
      {[](Stream& client) { client.rst(); }, CloseReason::client_reset},
      {[](Stream& client) { client.close(); }, CloseReason::client_closed},
      {[](Stream& client) { client.shutdown_write(); }, CloseReason::client_closed}};
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(yaml(workers, {{server.address()}}));
    std::size_t clients = 0;
    for (const Manner& manner : manners) {
      ready_to_hang(weir, server, clients);
      Stream probe = weir.connect();
      wait_for_dialing(weir, 1);
      CHECK(circuit(weir).probes_in_flight == 1);
      manner.leave(probe);
      CHECK(weir.log(++clients).back().reason == text(manner.reason));
      expect_free_slot(weir);
      server.serve();
      expect_next_closes(weir, clients);
    }
    CHECK(dials_that(weir, DialOutcome::cancelled) == manners.size());
    weir.settle();
  }
}

TEST_CASE("BRK-01: a probe that the drain of its backend cancels leaves its slot to the next") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(yaml(workers, {{server.address()}}));
    std::size_t clients = 0;
    for (int round = 0; round < 2; ++round) {
      ready_to_hang(weir, server, clients);
      Stream probe = weir.connect();
      wait_for_dialing(weir, 1);
      CHECK(circuit(weir).probes_in_flight == 1);
      CHECK(drain(weir, "b1", 0ms));
      probe.expect_end();
      probe.close();
      CHECK(weir.log(++clients).back().reason == text(CloseReason::backend_drained));
      expect_free_slot(weir);
      CHECK(state(weir, "b1") == upstream::BackendState::draining);
      CHECK(enable(weir, "b1"));
      server.serve();
      expect_next_closes(weir, clients);
    }
    CHECK(dials_that(weir, DialOutcome::cancelled) == 2);
    weir.settle();
  }
}

TEST_CASE("BRK-01: a reload that keeps the backend keeps the probe, and the slot with it") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(yaml(workers, {{server.address()}}));
    std::size_t clients = 0;
    ready_to_hang(weir, server, clients);
    Stream probe = weir.connect();
    wait_for_dialing(weir, 1);
    for (const char* const more : {", retry_attempts: 1", ", retry_attempts: 2"}) {
      weir.reload(yaml(workers, {{server.address()}}, more));
      CHECK(circuit(weir).phase == CircuitPhase::half_open);
      CHECK(circuit(weir).probes_in_flight == 1);
      CHECK(circuit(weir).probes_remaining == 0);
      CHECK(weir.snapshot().backend("servers", "b1").dialing == 1);
    }
    probe.close();
    CHECK(weir.log(++clients).back().reason == text(CloseReason::client_closed));
    expect_free_slot(weir);
    server.serve();
    expect_next_closes(weir, clients);
    weir.settle();
  }
}

TEST_CASE("BRK-01: a probe of a backend that is removed goes on, and its slot comes back with it") {
  for (const int workers : {1, 2, 4}) {
    for (const bool back_before_the_end : {true, false}) {
      FickleBackend server;
      const Service other;
      const std::string with = yaml(workers, {{server.address()}});
      std::string without = yaml(workers, {{other.address()}});
      without.replace(without.find("name: b1"), 8, "name: b2");
      TestWeir weir(with);
      std::size_t clients = 0;
      ready_to_hang(weir, server, clients);
      Stream probe = weir.connect();
      wait_for_dialing(weir, 1);
      weir.reload(without);
      CHECK(weir.snapshot().backend("servers", "b1").removed);
      CHECK(circuit(weir).probes_in_flight == 1);
      if (back_before_the_end) {
        weir.reload(with);
        CHECK(circuit(weir).phase == CircuitPhase::half_open);
        CHECK(circuit(weir).probes_in_flight == 1);
      }
      probe.close();
      CHECK(weir.log(++clients).back().reason == text(CloseReason::client_closed));
      server.serve();
      if (back_before_the_end) {
        expect_free_slot(weir);
        expect_next_closes(weir, clients);
      } else {
        weir.wait_until(
            [](const admin::Snapshot& now) { return now.pool("servers").backends.size() == 1; },
            "b1 is forgotten with its probe");
        weir.reload(with);
        CHECK(circuit(weir).phase == CircuitPhase::closed);
        CHECK(circuit(weir).epoch == 1);
        CHECK(one_client(weir, clients).backend == "b1");
      }
      weir.settle();
    }
  }
}

TEST_CASE("BRK-01: a client that waits in the queue for too long was no probe") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    Service fallback;
    TestWeir weir(yaml(workers, {{server.address(), 0}, {fallback.address(), 1}},
                       ", max_active_requests: 1, max_pending_requests: 1, pending_timeout: " +
                           scaled_ms(kOpenTime * 3 / 2)));
    std::size_t clients = 0;
    Stream holder = weir.connect();  // its dial of b1 is refused
    ask(holder);
    CHECK(circuit(weir).phase == CircuitPhase::open);
    const std::uint64_t epoch = circuit(weir).epoch;
    server.serve();
    Stream waits = weir.connect();
    waits.say("q");
    wait_for_probe_due(weir, "b1");
    waits.expect_end();
    waits.close();
    CHECK(weir.log(++clients).back().reason == text(CloseReason::pending_timeout));
    CHECK(circuit(weir).epoch == epoch);
    holder.close();
    weir.log(++clients);
    expect_next_closes(weir, clients);
    weir.settle();
  }
}

// Twenty clients in one burst while the backend is half open and does not answer; it does when all
// others have been dealt with.
void burst(int workers, std::uint64_t probes, bool with_fallback) {
  constexpr std::size_t kClients = 20;
  const std::size_t others = kClients - probes;
  FickleBackend server;
  Service fallback;
  std::vector<PoolMember> members{{server.address(), 0}};
  if (with_fallback) members.push_back({fallback.address(), 1});
  TestWeir weir(yaml(workers, members, fmt::format(", circuit_half_open_probes: {}", probes)));
  std::size_t before = 0;
  Backend& hole = ready_to_hang(weir, server, before);
  const std::size_t at_fallback = fallback.accepted();
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(weir.connect());
    clients.back().say("q");
  }
  const auto dealt_with = [&] {
    if (with_fallback) return fallback.accepted() - at_fallback;
    std::erase_if(clients, [](const Stream& each) { return each.has_ended(); });
    return kClients - clients.size();
  };
  const admin::Snapshot now = weir.wait_until(
      [&](const admin::Snapshot& each) {
        return dealt_with() == others && each.backend("servers", "b1").dialing == probes;
      },
      "all others have been served elsewhere or refused");
  CHECK(now.backend("servers", "b1").circuit.probes_in_flight == probes);
  CHECK(now.backend("servers", "b1").circuit.probes_remaining == 0);
  hole.empty_queue();
  std::vector<Stream> served;
  for (std::uint64_t i = 0; i < probes; ++i) {
    served.push_back(hole.accept());
    served.back().hear("q");
    served.back().say("q");
  }
  for (Stream& client : clients) client.hear("q");
  clients.clear();
  CHECK(!hole.has_waiting());
  CHECK(fallback.accepted() - at_fallback == (with_fallback ? others : 0));
  CHECK(dials_that(weir, DialOutcome::connected) == probes);
  CHECK(circuit(weir).phase == CircuitPhase::closed);
  CHECK(circuit(weir).probes_in_flight == 0);
  CHECK(circuit(weir).stale_results == probes - 1);  // the first has decided
  served.clear();
  weir.log(before + kClients);
  weir.settle();
}

TEST_CASE("BRK-02: of a burst exactly one dials a half-open backend that accepts late") {
  for (const int workers : {1, 2, 4}) burst(workers, 1, false);
}

TEST_CASE("BRK-02: beside the one probe everybody is served by the other backend") {
  for (const int workers : {1, 2, 4}) burst(workers, 1, true);
}

TEST_CASE("BRK-02: with circuit_half_open_probes: 3 exactly three dial") {
  for (const int workers : {1, 2, 4}) burst(workers, 3, false);
}

}  // namespace
}  // namespace weir::e2e
