#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cerrno>
#include <string>

#include "tests/e2e/circuits.h"
#include "tests/e2e/fickle_backend.h"
#include "tests/e2e/kernel_refusal.h"
#include "tests/e2e/orders.h"

// Probes that fail through no fault of the backend's: nothing is decided, nothing is lost.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::CircuitStatus;
using core::CloseReason;
using core::DialOutcome;

std::string yaml(int workers, const std::string& address) {
  return circuits_yaml(workers, circuit_keys(1, 700ms), {{address}}, "connect: 60s");
}

net::SocketAddress socket_address(const std::string& text) {
  return net::SocketAddress::from(core::parse_endpoint(text).endpoint);
}

void expect_undecided(const CircuitStatus& status) {
  CHECK(status.phase == CircuitPhase::half_open);
  CHECK(status.probes_in_flight == 0);
  CHECK(status.probes_remaining == 1);
  CHECK(times_entered(status, CircuitPhase::open) == 1);
  CHECK(times_entered(status, CircuitPhase::half_open) == 1);
  CHECK(times_entered(status, CircuitPhase::closed) == 0);
  CHECK(status.stale_results == 0);
}

void expect_closed_by_next(TestWeir& weir, std::size_t& clients) {
  const LogEntry next = one_client(weir, clients);
  CHECK(next.reason == text(CloseReason::client_closed));
  CHECK(next.attempts.size() == 1);
  CHECK(circuit(weir).phase == CircuitPhase::closed);
  CHECK(circuit(weir).fails == 0);
  CHECK(circuit(weir).probes_in_flight == 0);
  CHECK(dials_that(weir, DialOutcome::connected) == 1);
  weir.settle();
}

TEST_CASE("BRK-06: a probe without a local port decides nothing, and the next client probes") {
  for (const int workers : {1, 2, 4}) {
    Service service;
    const net::SocketAddress address = socket_address(service.address());
    TestWeir weir(yaml(workers, service.address()));
    std::size_t clients = 0;
    {
      const ConnectRefusal down(address, ECONNREFUSED);
      CHECK(one_client(weir, clients).reason == text(CloseReason::upstream_connect_failed));
    }
    wait_for_probe_due(weir, "b1");
    {
      const ConnectRefusal no_port(address, EADDRNOTAVAIL);
      for (int i = 0; i < 3; ++i) {
        const LogEntry probe = one_client(weir, clients);
        CHECK(probe.reason == text(CloseReason::local_error));
        REQUIRE(probe.attempts.size() == 1);
        CHECK(probe.attempts[0].outcome == "local_error");
        expect_undecided(circuit(weir));
      }
    }
    CHECK(dials_that(weir, DialOutcome::local_error) == 3);
    expect_closed_by_next(weir, clients);
  }
}

// On a unix socket a probe that hangs asks again and again, each time with a new descriptor.
TEST_CASE("BRK-06: a probe without a descriptor decides nothing, and the next client probes") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(yaml(workers, server.address()));
    std::size_t clients = 0;
    CHECK(one_client(weir, clients).reason == text(CloseReason::upstream_connect_failed));
    server.hang();
    wait_for_probe_due(weir, "b1");
    Stream probe = weir.connect();
    wait_for_dialing(weir, 1);
    {
      const NoDescriptors none;
      probe.expect_end();
    }
    probe.close();
    const LogEntry entry = weir.log(++clients).back();
    CHECK(entry.reason == text(CloseReason::local_error));
    REQUIRE(entry.attempts.size() == 1);
    CHECK(entry.attempts[0].outcome == "local_error");
    expect_undecided(circuit(weir));
    CHECK(dials_that(weir, DialOutcome::local_error) == 1);
    server.serve();
    expect_closed_by_next(weir, clients);
  }
}

TEST_CASE("BRK-06: a probe that the drain of its backend cancels decides nothing") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(yaml(workers, server.address()));
    std::size_t clients = 0;
    one_client(weir, clients);
    server.hang();
    wait_for_probe_due(weir, "b1");
    Stream probe = weir.connect();
    wait_for_dialing(weir, 1);
    CHECK(drain(weir, "b1", 0ms));
    probe.expect_end();
    probe.close();
    CHECK(weir.log(++clients).back().attempts.back().outcome == "cancelled");
    expect_undecided(circuit(weir));
    CHECK(enable(weir, "b1"));
    server.serve();
    expect_closed_by_next(weir, clients);
  }
}

TEST_CASE("BRK-06: a probe that a drain cancels decides nothing") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(yaml(workers, server.address()));
    std::size_t clients = 0;
    one_client(weir, clients);
    server.hang();
    wait_for_probe_due(weir, "b1");
    Stream probe = weir.connect();
    wait_for_dialing(weir, 1);
    weir.drain();
    CHECK(weir.wait_for_exit() == 0);
    expect_undecided(circuit(weir));
    CHECK(weir.snapshot().backend("servers", "b1").dialing == 0);
    CHECK(dials_that(weir, DialOutcome::cancelled) == 1);
    CHECK(weir.log(++clients).back().attempts.back().outcome == "cancelled");
  }
}

}  // namespace
}  // namespace weir::e2e
