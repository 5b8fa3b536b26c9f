#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/e2e/circuits.h"
#include "tests/e2e/fickle_backend.h"
#include "tests/e2e/orders.h"
#include "tests/e2e/service.h"
#include "tests/e2e/traffic.h"

// Circuits that an operator takes in hand, under clients.
namespace weir::e2e {
namespace {

using admin::CircuitOrder;
using core::CircuitPhase;
using core::CloseReason;
using core::DialOutcome;
using upstream::BackendState;
using Lines = std::vector<std::string>;

TEST_CASE("orders: a circuit that is forced open refuses all, until it is automatic again") {
  for (const int workers : {1, 2, 4}) {
    const Service server;
    TestWeir weir(circuits_yaml(workers, circuit_keys(1, 50ms), {{server.address()}}));
    std::size_t clients = 0;
    CHECK(order(weir, "b1", CircuitOrder::open));
    CHECK(state(weir, "b1") == BackendState::circuit_open);
    CHECK(circuit(weir).forced_open);
    silence(scaled(150ms));  // past any open time
    for (int i = 0; i < 4; ++i) {
      CHECK(one_client(weir, clients).reason == text(CloseReason::circuit_open));
    }
    CHECK(server.accepted() == 0);
    CHECK(order(weir, "b1", CircuitOrder::automatic));
    CHECK_FALSE(circuit(weir).forced_open);
    CHECK(one_client(weir, clients).reason == text(CloseReason::client_closed));
    CHECK(circuit(weir).phase == CircuitPhase::closed);
    CHECK(told(weir) == Lines{"circuit servers/b1 open", "circuit servers/b1 automatic",
                              "circuit servers/b1 half_open", "circuit servers/b1 closed"});
    weir.settle();
  }
}

TEST_CASE("orders: an order about a circuit holds on all workers when it returns") {
  for (const int workers : {2, 4}) {
    const auto servers = services(2);
    TestWeir weir(circuits_yaml(workers, circuit_keys(1, 60s),
                                {{servers[0]->address()}, {servers[1]->address()}}));
    Traffic traffic(weir.address(), 4);
    for (int round = 0; round < 10; ++round) {
      traffic.wait_for_served(20);
      CHECK(order(weir, "b1", CircuitOrder::open));
      weir.wait_until(
          [&](const admin::Snapshot& now) {
            const auto& backend = now.backend("servers", "b1");
            return backend.active == 0 &&
                   backend.dials_that(DialOutcome::connected) == servers[0]->accepted();
          },
          "its sessions are over");
      const std::size_t before = servers[0]->accepted();
      traffic.wait_for_served(40);
      CHECK(servers[0]->accepted() == before);
      CHECK(order(weir, "b1", CircuitOrder::close));
      traffic.wait_for_served(20);
      CHECK(servers[0]->accepted() > before);
    }
    const Traffic::Tally tally = traffic.stop();
    CHECK(tally.ended == 0);
    CHECK(tally.reset == 0);
    weir.settle();
  }
}

TEST_CASE("orders: to close an open circuit is one act, with its history forgotten") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(circuits_yaml(workers, circuit_keys(2, 60s), {{server.address()}}));
    std::size_t clients = 0;
    for (int i = 0; i < 2; ++i) one_client(weir, clients);
    CHECK(state(weir, "b1") == BackendState::circuit_open);
    CHECK(order(weir, "b1", CircuitOrder::close));
    CHECK(state(weir, "b1") == BackendState::available);
    CHECK(circuit(weir).fails == 0);
    CHECK(one_client(weir, clients).reason == text(CloseReason::upstream_connect_failed));
    CHECK(circuit(weir).phase == CircuitPhase::closed);  // one failure of two
    server.serve();
    CHECK(one_client(weir, clients).reason == text(CloseReason::client_closed));
    CHECK(told(weir) == Lines{"circuit servers/b1 open", "circuit servers/b1 closed"});
    weir.settle();
  }
}

TEST_CASE("orders: a circuit that is bypassed admits all and learns nothing") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(circuits_yaml(workers, circuit_keys(1, 60s), {{server.address()}}));
    std::size_t clients = 0;
    one_client(weir, clients);
    CHECK(state(weir, "b1") == BackendState::circuit_open);
    CHECK(order(weir, "b1", CircuitOrder::bypass));
    CHECK(circuit(weir).bypassed);
    CHECK(state(weir, "b1") == BackendState::available);
    for (int i = 0; i < 3; ++i) {
      CHECK(one_client(weir, clients).reason == text(CloseReason::upstream_connect_failed));
    }
    server.serve();
    CHECK(one_client(weir, clients).reason == text(CloseReason::client_closed));
    CHECK(circuit(weir).phase == CircuitPhase::open);  // what is below stays
    CHECK(order(weir, "b1", CircuitOrder::automatic));
    CHECK_FALSE(circuit(weir).bypassed);
    CHECK(one_client(weir, clients).reason == text(CloseReason::circuit_open));
    CHECK(told(weir) == Lines{"circuit servers/b1 open", "circuit servers/b1 bypassed",
                              "circuit servers/b1 automatic"});
    weir.settle();
  }
}

}  // namespace
}  // namespace weir::e2e
