#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/e2e/circuits.h"
#include "tests/e2e/fickle_backend.h"

// The share of failures as a reason to open, and what becomes of it by a probe.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::CloseReason;
using core::DialOutcome;

constexpr int kMinSamples = 10;

// Of failures in a row no test has so many, and no window passes within one.
std::string yaml(int workers, const std::string& address, milliseconds open_time,
                 const std::string& more = {}) {
  return circuits_yaml(workers,
                       circuit_keys(1000, open_time,
                                    fmt::format(", circuit_window: 10m, circuit_failure_rate: 0.5, "
                                                "circuit_min_samples: {}{}",
                                                kMinSamples, more)),
                       {{address}});
}

// Nobody listens: one failure less than the minimum opens nothing, the minimum does.
void trip(const TestWeir& weir, std::size_t& clients) {
  for (int i = 1; i <= kMinSamples; ++i) {
    CHECK(circuit(weir).phase == CircuitPhase::closed);
    CHECK(one_client(weir, clients).reason == text(CloseReason::upstream_connect_failed));
  }
  CHECK(circuit(weir).phase == CircuitPhase::open);
}

TEST_CASE(
    "BRK-07: a probe's success closes and forgets, its failure opens at once for a full time") {
  constexpr milliseconds kOpenTime(200);
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(yaml(workers, server.address(), kOpenTime));
    std::size_t clients = 0;
    trip(weir, clients);
    // S
    wait_for_probe_due(weir, "b1");
    server.serve();
    CHECK(one_client(weir, clients).reason == text(CloseReason::client_closed));
    CHECK(circuit(weir).phase == CircuitPhase::closed);
    CHECK(circuit(weir).fails == 0);
    // The window begins anew: it takes the whole minimum again.
    server.die();
    trip(weir, clients);
    // F, several times: a single failure is enough, and each time is a full one.
    const std::uint64_t before = dials_that(weir, DialOutcome::refused);
    constexpr int kFailures = 3;
    for (int i = 1; i <= kFailures; ++i) {
      wait_for_probe_due(weir, "b1");
      const Stopwatch since_failure;
      CHECK(one_client(weir, clients).reason == text(CloseReason::upstream_connect_failed));
      CHECK(circuit(weir).phase == CircuitPhase::open);
      // As many clients as come meanwhile: nobody is dialled for before the time is over.
      while (!circuit(weir).probe_due) {
        if (since_failure.elapsed() < scaled(kOpenTime) / 2) {
          CHECK(one_client(weir, clients).reason == text(CloseReason::circuit_open));
        }
        silence(5ms);
      }
      since_failure.expect_between(scaled(kOpenTime), scaled(kOpenTime) + 50ms);
      CHECK(dials_that(weir, DialOutcome::refused) == before + static_cast<std::uint64_t>(i));
    }
    // S
    server.serve();
    CHECK(one_client(weir, clients).reason == text(CloseReason::client_closed));
    CHECK(circuit(weir).phase == CircuitPhase::closed);
    CHECK(circuit(weir).fails == 0);
    CHECK(circuit(weir).probes_in_flight == 0);
    CHECK(times_entered(circuit(weir), CircuitPhase::closed) == 2);
    weir.settle();
  }
}

// A backend that accepts everybody and fails half of them counts for itself.
TEST_CASE("rate trigger: while open the backend's own count is flat, and one probe resumes it") {
  for (const int workers : {1, 2, 4}) {
    Backend server;
    TestWeir weir(yaml(workers, server.address(), 1000ms,
                       ", circuit_success: first_byte, first_byte_timeout: 5m"));
    std::size_t clients = 0;
    for (int i = 1; i <= kMinSamples; ++i) {
      CHECK(circuit(weir).phase == CircuitPhase::closed);
      Asked session(weir, server);
      if (i % 2 == 1) {
        session.answer();
        session.end();
      } else {
        session.backend->close();
        session.client.expect_end();
        session.client.close();
      }
      weir.log(++clients);
    }
    CHECK(circuit(weir).phase == CircuitPhase::open);
    CHECK(circuit(weir).fails == 1);
    const auto refuses_all = [&] {
      for (int i = 0; i < 5; ++i) {
        const LogEntry entry = one_client(weir, clients);
        CHECK(entry.reason == text(CloseReason::circuit_open));
        CHECK(entry.attempts.empty());
      }
      CHECK(!server.has_waiting());
    };
    refuses_all();
    wait_for_probe_due(weir, "b1");
    Asked probe(weir, server);
    CHECK(circuit(weir).phase == CircuitPhase::half_open);
    refuses_all();
    probe.answer();
    wait_for_phase(weir, "b1", CircuitPhase::closed);
    for (int i = 0; i < 5; ++i) {
      Asked session(weir, server);
      session.answer();
      session.end();
      weir.log(++clients);
    }
    probe.end();
    weir.log(++clients);
    weir.settle(server);
  }
}

}  // namespace
}  // namespace weir::e2e
