#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/e2e/circuits.h"
#include "tests/e2e/scene.h"

// `circuit_success: first_byte`: a backend is proven by its first byte.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::DialOutcome;

std::string yaml(int workers, const Backend& backend, const std::string& more) {
  return circuits_yaml(workers, "fail_timeout: 60s, circuit_success: first_byte, " + more,
                       {{backend.address()}});
}

// Longer than any script takes.
const std::string kPatient = "max_fails: 2, first_byte_timeout: 5m";

TEST_CASE("first_byte: an end before any byte is a failure, the first byte a success") {
  for (const int workers : {1, 2, 4}) {
    Backend server;
    TestWeir weir(yaml(workers, server, kPatient));
    {
      Asked session(weir, server);
      session.backend->close();
      session.client.expect_end();
      session.client.close();
    }
    const LogEntry early = weir.log(1).back();
    CHECK(early.reason == "backend_closed");
    REQUIRE(early.attempts.size() == 1);
    CHECK(early.attempts[0].outcome == "closed_early");
    CHECK(circuit(weir).fails == 1);
    {
      Asked session(weir, server);
      CHECK(circuit(weir).fails == 1);  // connected, but that proves nothing
      session.backend->say("a");
      session.client.hear("a");
      weir.wait_until(
          [](const admin::Snapshot& now) {
            return now.backend("servers", "b1").circuit.fails == 0;
          },
          "the answer counts");
      session.backend->close();
      session.client.expect_end();
    }
    CHECK(weir.log(2).back().attempts[0].outcome == "connected");
    for (std::size_t i = 0; i < 2; ++i) {
      Asked session(weir, server);
      session.backend->rst();
      session.client.expect_reset();
      const LogEntry reset = weir.log(3 + i).back();
      CHECK(reset.reason == "backend_reset");
      CHECK(reset.attempts[0].outcome == "closed_early");
    }
    CHECK(circuit(weir).phase == CircuitPhase::open);
    CHECK(dials_that(weir, DialOutcome::closed_early) == 3);
    CHECK(dials_that(weir, DialOutcome::connected) == 1);
    weir.settle();
  }
}

TEST_CASE("first_byte: a backend that hears the client and stays silent fails, and is reset") {
  for (const int workers : {1, 2, 4}) {
    Backend server;
    TestWeir weir(yaml(workers, server, "max_fails: 1, first_byte_timeout: " + scaled_ms(400ms)));
    Stream client = weir.connect();
    Stream backend = server.accept();
    // Nothing is asked of the backend before the client speaks.
    client.expect_silence(scaled(600ms));
    CHECK(circuit(weir).fails == 0);
    const Stopwatch since_asked;
    client.say("q");
    backend.hear("q");
    client.expect_end();
    since_asked.expect_between(scaled(400ms), scaled(400ms) + 500ms);
    backend.expect_reset();
    client.close();
    const LogEntry entry = weir.log(1).back();
    CHECK(entry.reason == "first_byte_timeout");
    CHECK(entry.closed_by == "weir");
    CHECK(entry.attempts[0].outcome == "first_byte_timeout");
    CHECK(circuit(weir).phase == CircuitPhase::open);
    CHECK(dials_that(weir, DialOutcome::first_byte_timeout) == 1);
    weir.settle();
  }
}

TEST_CASE("first_byte: a backend that has answered once may be silent from then on") {
  Backend server;
  TestWeir weir(yaml(1, server, "max_fails: 1, first_byte_timeout: " + scaled_ms(300ms)));
  Asked session(weir, server);
  session.backend->say("a");
  session.client.hear("a");
  session.client.say("q");
  session.backend->hear("q");
  session.client.expect_silence(scaled(500ms));
  session.client.close();
  session.backend->expect_end();
  session.backend->close();
  CHECK(weir.log(1).back().reason == "client_closed");
  CHECK(circuit(weir).fails == 0);
  weir.settle();
}

TEST_CASE("first_byte: with the kill switch nobody waits for it") {
  Backend server;
  TestWeir weir(yaml(1, server, "circuit_enabled: false, first_byte_timeout: " + scaled_ms(300ms)));
  Asked session(weir, server);
  session.client.expect_silence(scaled(500ms));
  session.backend->close();
  session.client.expect_end();
  session.client.close();
  const LogEntry entry = weir.log(1).back();
  CHECK(entry.reason == "backend_closed");
  CHECK(entry.attempts[0].outcome == "connected");
  weir.settle();
}

TEST_CASE("first_byte: between a silent client and a silent backend nothing is decided") {
  Backend server;
  TestWeir weir(yaml(1, server, "max_fails: 1, first_byte_timeout: 5m"));
  for (std::size_t i = 0; i < 2; ++i) {
    Stream client = weir.connect();
    Stream backend = server.accept();
    // A client that ends while it is dialled for has left.
    weir.wait_until(
        [](const admin::Snapshot& now) {
          const auto& b1 = now.backend("servers", "b1");
          return b1.active == 1 && b1.dialing == 0;
        },
        "the dial is over");
    (i == 0 ? backend : client).close();
    (i == 0 ? client : backend).expect_end();
    (i == 0 ? client : backend).close();
    CHECK(weir.log(i + 1).back().attempts[0].outcome == "connected");
  }
  CHECK(circuit(weir).phase == CircuitPhase::closed);
  CHECK(circuit(weir).fails == 0);
  CHECK(dials_that(weir, DialOutcome::connected) == 2);
  weir.settle();
}

TEST_CASE("first_byte: a client that leaves before the answer says nothing about the backend") {
  for (const int workers : {1, 2, 4}) {
    Backend server;
    TestWeir weir(yaml(workers, server, "max_fails: 1, first_byte_timeout: 5m"));
    // One wait goes on alone, and the backend is not told; the others end with their clients.
    Asked first(weir, server);
    first.client.rst();
    CHECK(weir.log(1).back().reason == "client_reset");
    wait_for_dialing(weir, 1);
    CHECK(weir.snapshot().pool("servers").active == 0);
    CHECK(weir.snapshot().backend("servers", "b1").active == 0);
    for (std::size_t i = 0; i < 3; ++i) {
      Asked session(weir, server);
      session.client.rst();
      session.backend->expect_reset();
      weir.log(2 + i);
    }
    CHECK(circuit(weir).fails == 0);
    first.backend->say("a");
    first.backend->expect_reset();
    wait_for_dialing(weir, 0);
    CHECK(circuit(weir).phase == CircuitPhase::closed);
    CHECK(dials_that(weir, DialOutcome::connected) == 4);
    weir.settle();
  }
}

TEST_CASE("first_byte: a backend that never answers trips although every client leaves sooner") {
  for (const int workers : {1, 2, 4}) {
    Backend server;
    TestWeir weir(yaml(workers, server, "max_fails: 2, first_byte_timeout: " + scaled_ms(500ms)));
    for (std::size_t fails = 1; fails <= 2; ++fails) {
      Asked session(weir, server);
      session.client.rst();
      weir.log(fails);
      if (fails == 1) {
        session.backend->expect_reset();
        CHECK(dials_that(weir, DialOutcome::first_byte_timeout) == 1);
      } else {
        session.backend->close();  // no answer either
      }
      wait_for_dialing(weir, 0);
    }
    CHECK(dials_that(weir, DialOutcome::closed_early) == 1);
    CHECK(circuit(weir).phase == CircuitPhase::open);
    weir.settle();
  }
}

TEST_CASE("first_byte: a probe is decided by its first byte, not by its connection") {
  for (const int workers : {1, 2, 4}) {
    const Folder folder;
    const std::string path = folder.unix_socket("b");
    TestWeir weir(circuits_yaml(workers,
                                "max_fails: 1, fail_timeout: " + scaled_ms(800ms) +
                                    ", circuit_success: first_byte, first_byte_timeout: 5m",
                                {{path}}));
    {
      Stream client = weir.connect();
      client.expect_end();
    }
    weir.log(1);
    Backend server(path);
    wait_for_probe_due(weir, "b1");
    Asked hangs(weir, server);
    CHECK(circuit(weir).phase == CircuitPhase::half_open);
    // A stream without an answer does not keep the backend out for good.
    wait_for_probe_due(weir, "b1");
    Asked probe(weir, server);
    CHECK(circuit(weir).phase == CircuitPhase::half_open);
    CHECK(circuit(weir).probes_in_flight == 1);
    // Nor does its late answer decide anything.
    hangs.backend->say("a");
    hangs.client.hear("a");
    weir.wait_until(
        [](const admin::Snapshot& now) {
          return now.backend("servers", "b1").circuit.stale_results == 1;
        },
        "the late answer is noticed");
    CHECK(circuit(weir).probes_in_flight == 1);
    probe.backend->say("a");
    probe.client.hear("a");
    wait_for_phase(weir, "b1", CircuitPhase::closed);
    hangs.client.close();
    probe.client.close();
    hangs.backend->expect_end();
    probe.backend->expect_end();
    hangs.backend->close();
    probe.backend->close();
    weir.log(3);
    weir.settle();
  }
}

}  // namespace
}  // namespace weir::e2e
