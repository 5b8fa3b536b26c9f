#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/e2e/circuits.h"
#include "tests/e2e/fickle_backend.h"

// Dials whose verdict comes when the circuit has gone on to something else.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::CircuitStatus;
using core::CloseReason;

constexpr milliseconds kOpenTime(700);

void wait_for_stale(const TestWeir& weir, std::uint64_t count, At at = At::here()) {
  weir.wait_until(
      [count](const admin::Snapshot& now) {
        return now.backend("servers", "b1").circuit.stale_results == count;
      },
      fmt::format("{} verdicts were stale", count), at);
}

void expect_unchanged(const CircuitStatus& before, const CircuitStatus& after) {
  CHECK(after.phase == before.phase);
  CHECK(after.epoch == before.epoch);
  CHECK(after.fails == before.fails);
  CHECK(after.probes_in_flight == before.probes_in_flight);
  CHECK(after.open_until == before.open_until);
  CHECK(after.half_open_until == before.half_open_until);
}

enum class Verdict { success, failure };

// A session of before the trip whose backend has not answered yet.
class LateVerdict {
 public:
  LateVerdict(const TestWeir& weir, Backend& server, Verdict verdict)
      : weir_(weir), session_(weir, server), verdict_(verdict) {}

  // It counts as stale and changes nothing; its own session is as any other, to its end.
  void comes(std::size_t& clients) {
    const CircuitStatus before = circuit(weir_);
    if (verdict_ == Verdict::success) {
      session_.answer();
    } else {
      session_.backend->close();
      session_.client.expect_end();
    }
    wait_for_stale(weir_, 1);
    expect_unchanged(before, circuit(weir_));
    if (verdict_ == Verdict::success) {
      session_.client.say("more");
      session_.backend->hear("more");
      session_.answer();
      session_.end();
    } else {
      session_.client.close();
    }
    weir_.log(++clients);
  }

 private:
  const TestWeir& weir_;
  Asked session_;
  Verdict verdict_;
};

void stale(int workers, Verdict verdict, CircuitPhase when) {
  constexpr int kMaxFails = 5;
  FickleBackend server;
  TestWeir weir(circuits_yaml(
      workers,
      circuit_keys(kMaxFails, kOpenTime, ", circuit_success: first_byte, first_byte_timeout: 5m"),
      {{server.address()}}));
  LateVerdict late(weir, server.listen(), verdict);
  server.die();
  std::size_t clients = 0;
  for (int i = 0; i < kMaxFails; ++i) {
    CHECK(one_client(weir, clients).reason == text(CloseReason::upstream_connect_failed));
  }
  CHECK(circuit(weir).phase == CircuitPhase::open);
  if (when == CircuitPhase::open) {
    late.comes(clients);
  }
  Backend& back = server.listen();
  wait_for_probe_due(weir, "b1");
  Asked probe(weir, back);
  CHECK(circuit(weir).phase == CircuitPhase::half_open);
  if (when == CircuitPhase::half_open) {
    late.comes(clients);
    // Nor did it free a slot that it never had.
    CHECK(one_client(weir, clients).reason == text(CloseReason::circuit_open));
  }
  probe.answer();
  wait_for_phase(weir, "b1", CircuitPhase::closed);
  if (when == CircuitPhase::closed) {
    late.comes(clients);
  }
  probe.end();
  weir.log(++clients);
  CHECK(circuit(weir).fails == 0);
  CHECK(circuit(weir).stale_results == 1);
  CHECK(times_entered(circuit(weir), CircuitPhase::open) == 1);
  CHECK(times_entered(circuit(weir), CircuitPhase::closed) == 1);
  weir.settle(back);
}

TEST_CASE("BRK-03: a success from before the trip changes nothing while a probe is under way") {
  for (const int workers : {1, 2, 4}) stale(workers, Verdict::success, CircuitPhase::half_open);
}

TEST_CASE("BRK-03: a failure from before the trip changes nothing while a probe is under way") {
  for (const int workers : {1, 2, 4}) stale(workers, Verdict::failure, CircuitPhase::half_open);
}

TEST_CASE("BRK-03: nor does either while the circuit is open, or closed again") {
  for (const CircuitPhase when : {CircuitPhase::open, CircuitPhase::closed}) {
    stale(2, Verdict::success, when);
    stale(2, Verdict::failure, when);
  }
}

TEST_CASE("BRK-03: a probe that succeeds after its time serves its client, and closes nothing") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(
        circuits_yaml(workers, circuit_keys(1, kOpenTime), {{server.address()}}, "connect: 60s"));
    std::size_t clients = 0;
    one_client(weir, clients);
    Backend& hole = server.hang();
    wait_for_probe_due(weir, "b1");
    Stream late = weir.connect();
    late.say("q");
    wait_for_phase(weir, "b1", CircuitPhase::half_open);
    wait_for_phase(weir, "b1", CircuitPhase::open);
    const CircuitStatus before = circuit(weir);
    CHECK(before.probes_in_flight == 0);
    hole.empty_queue();
    Stream served = hole.accept();
    wait_for_stale(weir, 1);
    expect_unchanged(before, circuit(weir));
    served.hear("q");
    served.say("a");
    late.hear("a");
    CHECK(one_client(weir, clients).reason == text(CloseReason::circuit_open));
    late.close();
    served.expect_end();
    served.close();
    weir.log(++clients);
    // The next one decides.
    wait_for_probe_due(weir, "b1");
    server.serve();
    CHECK(one_client(weir, clients).reason == text(CloseReason::client_closed));
    CHECK(circuit(weir).phase == CircuitPhase::closed);
    CHECK(circuit(weir).stale_results == 1);
    weir.settle();
  }
}

}  // namespace
}  // namespace weir::e2e
