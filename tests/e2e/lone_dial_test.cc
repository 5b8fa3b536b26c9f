#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/e2e/circuits.h"
#include "tests/e2e/scene.h"

// Clients that are less patient than `timeouts.connect`: one dial of each backend goes on without
// its client, so that a backend which never answers is found out all the same.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::CloseReason;
using core::DialOutcome;

// A client that resets while it is dialled for; answers its line of the log.
LogEntry leave_during_dial(const TestWeir& weir, std::uint64_t dials_before, std::size_t& clients) {
  Stream client = weir.connect();
  client.say("q");
  wait_for_dialing(weir, dials_before + 1);
  client.rst();
  return weir.log(++clients).back();
}

TEST_CASE("BRK-05: impatient clients do not trip a backend that answers late") {
  for (const int workers : {1, 2, 4}) {
    const Folder folder;
    Backend late(folder.unix_socket("b"), {}, 0);
    late.fill_queue();
    TestWeir weir(circuits_yaml(workers, "max_fails: 1, fail_timeout: 60s", {{late.address()}},
                                "connect: 60s"));
    std::size_t clients = 0;
    for (int i = 0; i < 30; ++i) {
      const LogEntry entry = leave_during_dial(weir, i == 0 ? 0 : 1, clients);
      CHECK(entry.reason == "client_reset");
      REQUIRE(entry.attempts.size() == 1);
      CHECK(entry.attempts[0].outcome == "cancelled");
      // The first goes on alone, in nobody's place; the others are cancelled with their clients.
      wait_for_dialing(weir, 1);
      const admin::Snapshot now = weir.snapshot();
      CHECK(now.pool("servers").active == 0);
      CHECK(now.backend("servers", "b1").active == 0);
    }
    CHECK(dials_that(weir, DialOutcome::cancelled) == 29);
    // It ends as soon as it is connected, as a success; on TCP by a reset (HC-04), which a unix
    // socket does not have.
    late.empty_queue();
    late.accept().expect_end();
    wait_for_dialing(weir, 0);
    CHECK(dials_that(weir, DialOutcome::connected) == 1);
    CHECK(circuit(weir).phase == CircuitPhase::closed);
    CHECK(circuit(weir).fails == 0);
    weir.settle();
  }
}

TEST_CASE("BRK-05: a backend that never answers trips although every client leaves sooner") {
  for (const int workers : {1, 2, 4}) {
    Backend hole("127.0.0.1", {}, 0);
    hole.fill_queue();
    TestWeir weir(circuits_yaml(workers, "max_fails: 2, fail_timeout: 60s", {{hole.address()}},
                                "connect: " + scaled_ms(500ms)));
    std::size_t clients = 0;
    for (std::uint32_t fails = 1; fails <= 2; ++fails) {
      CHECK(leave_during_dial(weir, 0, clients).reason == "client_reset");
      CHECK(leave_during_dial(weir, 1, clients).reason == "client_reset");
      wait_for_dialing(weir, 0);
      CHECK(dials_that(weir, DialOutcome::timeout) == fails);
    }
    CHECK(circuit(weir).phase == CircuitPhase::open);
    CHECK(circuit(weir).transitions[static_cast<std::size_t>(CircuitPhase::open)] == 1);
    weir.settle();
  }
}

TEST_CASE("a dial that goes on alone counts against the backend's limit, and in nothing else") {
  const Folder folder;
  Backend hole(folder.unix_socket("b"), {}, 0);
  hole.fill_queue();
  TestWeir weir(circuits_yaml(
      2, "max_fails: 1, fail_timeout: 60s, max_active_requests: 1, max_active_per_backend: 1",
      {{hole.address()}}, "connect: 60s"));
  std::size_t clients = 0;
  leave_during_dial(weir, 0, clients);
  wait_for_dialing(weir, 1);
  // The pool's only slot is free again; the backend's only place is not.
  Stream refused = weir.connect();
  refused.expect_end();
  refused.close();
  CHECK(weir.log(++clients).back().reason == "backend_at_capacity");
  hole.empty_queue();
  hole.accept().expect_end();
  wait_for_dialing(weir, 0);
  weir.settle(hole);
}

TEST_CASE("BRK-05: a probe is cancelled with its client, and its slot is free at once") {
  for (const int workers : {1, 2, 4}) {
    const Folder folder;
    const std::string path = folder.unix_socket("b");
    TestWeir weir(circuits_yaml(workers, "max_fails: 1, fail_timeout: " + scaled_ms(500ms),
                                {{path}}, "connect: 60s"));
    std::size_t clients = 0;
    {
      Stream client = weir.connect();
      client.say("q");
      client.expect_end();
    }
    CHECK(weir.log(++clients).back().reason == "upstream_connect_failed");
    Backend hole(path, {}, 0);
    hole.fill_queue();
    wait_for_probe_due(weir, "b1");
    CHECK(leave_during_dial(weir, 0, clients).reason == "client_reset");
    wait_for_dialing(weir, 0);
    CHECK(circuit(weir).probes_in_flight == 0);
    CHECK(circuit(weir).phase != CircuitPhase::closed);
    CHECK(circuit(weir).stale_results == 0);
    weir.settle();
  }
}

TEST_CASE("a drain does not wait for a dial that goes on alone") {
  const Folder folder;
  Backend hole(folder.unix_socket("b"), {}, 0);
  hole.fill_queue();
  TestWeir weir(
      circuits_yaml(2, "max_fails: 1, fail_timeout: 60s", {{hole.address()}}, "connect: 60s"));
  std::size_t clients = 0;
  leave_during_dial(weir, 0, clients);
  wait_for_dialing(weir, 1);
  weir.drain();
  CHECK(weir.wait_for_exit() == 0);
  CHECK(weir.snapshot().backend("servers", "b1").dialing == 0);
  CHECK(dials_that(weir, DialOutcome::cancelled) == 1);
}

}  // namespace
}  // namespace weir::e2e
