#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/circuits.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// Backends that fail, and come back.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::CloseReason;

TEST_CASE(
    "BRK: a lone backend that fails is refused for its open time without a dial, then probed") {
  for (const int workers : {1, 2, 4}) {
    const Folder folder;
    const std::string path = folder.unix_socket("down");
    TestWeir weir(circuits_yaml(workers, circuit_keys(2, 1500ms), {{path}}));
    std::size_t clients = 0;
    CHECK(one_client(weir, clients).reason == "upstream_connect_failed");
    const Stopwatch since_trip;
    CHECK(one_client(weir, clients).reason == "upstream_connect_failed");
    for (int i = 0; i < 5; ++i) {
      const LogEntry refused = one_client(weir, clients);
      CHECK(refused.reason == "circuit_open");
      CHECK(refused.closed_by == "weir");
      CHECK(refused.attempts.empty());
    }
    CHECK(circuit(weir, "b1").phase == CircuitPhase::open);
    CHECK(weir.snapshot().backend("servers", "b1").dials_that(core::DialOutcome::refused) == 2);

    const Service up(path);
    LogEntry probe = one_client(weir, clients);
    while (probe.reason == "circuit_open") {
      REQUIRE(since_trip.elapsed() < patience());
      silence(20ms);
      probe = one_client(weir, clients);
    }
    since_trip.expect_between(scaled(1500ms), scaled(1500ms) + 500ms);
    CHECK(probe.reason == "client_closed");
    CHECK(circuit(weir, "b1").phase == CircuitPhase::closed);
    CHECK(one_client(weir, clients).reason == "client_closed");
    CHECK(up.accepted() == 2);
    weir.settle();
  }
}

TEST_CASE("BRK: failures below the threshold, with a success between, open nothing") {
  const Folder folder;
  const std::string path = folder.unix_socket("flaky");
  TestWeir weir(circuits_yaml(1, circuit_keys(3, 60000ms), {{path}}));
  std::size_t clients = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) {
      CHECK(one_client(weir, clients).reason == "upstream_connect_failed");
    }
    CHECK(circuit(weir, "b1").fails == 2);
    {
      const Service up(path);
      CHECK(one_client(weir, clients).reason == "client_closed");
    }
    std::filesystem::remove(folder.file("flaky"));
    CHECK(circuit(weir, "b1").fails == 0);
  }
  weir.settle();
}

TEST_CASE(
    "BRK: the fallback serves while the preferred is open, and the first after it goes home") {
  for (const int workers : {1, 2, 4}) {
    const Folder folder;
    const std::string path = folder.unix_socket("preferred");
    const Service fallback;
    TestWeir weir(
        circuits_yaml(workers, circuit_keys(1, 1500ms), {{path, 0}, {fallback.address(), 1}}));
    std::size_t clients = 0;
    const Stopwatch since_trip;
    const LogEntry first = one_client(weir, clients);
    REQUIRE(first.attempts.size() == 2);
    CHECK(first.attempts[0].outcome == "refused");
    CHECK(first.backend == "b2");
    const Service preferred(path);
    for (int i = 0; i < 10; ++i) {
      const LogEntry entry = one_client(weir, clients);
      if (since_trip.elapsed() >= scaled(1400ms)) break;
      CHECK(entry.backend == "b2");
      CHECK(entry.attempts.size() == 1);
    }
    wait_for_probe_due(weir, "b1");
    // The very next connection is the probe, and then all are at home. Nothing is left of it.
    for (int i = 0; i < 10; ++i) CHECK(one_client(weir, clients).backend == "b1");
    CHECK(circuit(weir, "b1").phase == CircuitPhase::closed);
    CHECK(circuit(weir, "b1").probes_in_flight == 0);
    CHECK(circuit(weir, "b2").probes_in_flight == 0);
    weir.settle();
  }
}

TEST_CASE("BRK: an open circuit counts whom it keeps away") {
  for (const int workers : {1, 2, 4}) {
    const Folder folder;
    TestWeir weir(circuits_yaml(workers, circuit_keys(1, 60000ms), {{folder.unix_socket("none")}}));
    std::size_t clients = 0;
    CHECK(one_client(weir, clients).reason == "upstream_connect_failed");
    CHECK(circuit(weir, "b1").rejects == 0);
    for (int i = 0; i < 20; ++i) CHECK(one_client(weir, clients).reason == "circuit_open");
    CHECK(circuit(weir, "b1").rejects == 20);
    weir.settle();
  }
}

TEST_CASE("BRK-01: a probe that hangs is given up after fail_timeout, and another one probes") {
  for (const int workers : {1, 2}) {
    const Folder folder;
    const std::string path = folder.unix_socket("b");
    TestWeir weir(circuits_yaml(workers, circuit_keys(1, 800ms), {{path}}, "connect: 60s"));
    std::size_t clients = 0;
    CHECK(one_client(weir, clients).reason == "upstream_connect_failed");
    wait_for_phase(weir, "b1", CircuitPhase::open);
    Backend hole(path, {}, 0);
    hole.fill_queue();
    wait_for_probe_due(weir, "b1");
    Stream hangs = weir.connect();
    hangs.say("q");
    wait_for_phase(weir, "b1", CircuitPhase::half_open);
    CHECK(circuit(weir, "b1").probes_in_flight == 1);
    CHECK(one_client(weir, clients).reason == "circuit_open");
    // Nobody has to come for it: whoever looks sees that the time has passed.
    wait_for_phase(weir, "b1", CircuitPhase::open);
    wait_for_probe_due(weir, "b1");
    Stream second = weir.connect();
    second.say("q");
    wait_for_phase(weir, "b1", CircuitPhase::half_open);
    CHECK(circuit(weir, "b1").probes_in_flight == 1);
    hangs.rst();
    second.rst();
    weir.log(clients + 2);
    weir.settle();
  }
}

TEST_CASE("BRK: with circuit_enabled false a backend that fails is dialled for every client") {
  const DeadPort dead;
  TestWeir weir(circuits_yaml(1, "circuit_enabled: false, max_fails: 1", {{dead.address()}}));
  std::size_t clients = 0;
  for (int i = 0; i < 5; ++i) {
    CHECK(one_client(weir, clients).reason == "upstream_connect_failed");
  }
  CHECK(circuit(weir, "b1").phase == CircuitPhase::closed);
  weir.settle();
}

}  // namespace
}  // namespace weir::e2e
