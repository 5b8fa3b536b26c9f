#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/e2e/circuits.h"
#include "tests/e2e/fickle_backend.h"
#include "tests/e2e/traffic.h"

// Backends that fail while clients keep coming.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::CloseReason;
using core::DialOutcome;

constexpr std::size_t kThreads = 4;

// What the clients saw is what the log and the counters say.
void expect_books(const TestWeir& weir, const Traffic::Tally& tally) {
  const admin::Snapshot now = weir.wait_until(
      [](const admin::Snapshot& each) { return each.sessions == 0; }, "all have left");
  std::size_t unserved = 0;
  for (const LogEntry& entry : weir.log(tally.clients())) {
    if (entry.reason == text(CloseReason::circuit_open)) {
      CHECK(entry.attempts.empty());
    }
    if (entry.reason == text(CloseReason::circuit_open) ||
        entry.reason == text(CloseReason::upstream_connect_failed)) {
      CHECK(entry.bytes_out == 0);
      ++unserved;
    }
  }
  const auto& front = now.listener("front");
  CHECK(front.accepted == tally.clients());
  CHECK(front.closed_as(CloseReason::circuit_open) +
            front.closed_as(CloseReason::upstream_connect_failed) ==
        unserved);
  // Whoever was in a session with the backend as it died sees how it ended, too.
  CHECK(tally.ended + tally.reset >= unserved);
  CHECK(tally.ended + tally.reset <= unserved + kThreads);
  CHECK(tally.reset <= kThreads);
}

void dies_and_comes_back(int workers, bool with_fallback) {
  constexpr milliseconds kOpenTime(300);
  FickleBackend server;
  const Service fallback;
  std::vector<PoolMember> members{{server.address(), 0}};
  if (with_fallback) members.push_back({fallback.address(), 1});
  TestWeir weir(
      circuits_yaml(workers, circuit_keys(1, kOpenTime, ", circuit_jitter: 0.5"), members));
  server.serve();
  Traffic traffic(weir.address(), kThreads);
  traffic.wait_for_served(50);
  CHECK(fallback.accepted() == 0);

  const Stopwatch since_death;
  server.die();
  weir.wait_until(
      [](const admin::Snapshot& now) {
        return times_entered(now.backend("servers", "b1").circuit, CircuitPhase::open) >= 3;
      },
      "two probes have failed");
  since_death.expect_between(2 * scaled(kOpenTime), 3 * scaled(kOpenTime) + 50ms);
  const std::uint64_t dials = dials_that(weir, DialOutcome::refused);
  const std::uint64_t openings = times_entered(circuit(weir), CircuitPhase::open);
  // Those that were under way as it tripped, and one for each time that was over.
  CHECK(dials <= kThreads + openings);
  if (with_fallback) {
    traffic.wait_for_served(20);
    CHECK(fallback.accepted() > 0);
  }

  const Service& back = server.serve();
  const Stopwatch since_back;
  wait_for_phase(weir, "b1", CircuitPhase::closed);
  since_back.expect_at_most(scaled(kOpenTime) * 3 / 2 + 50ms);
  // A probe may have been on its way as it came back; the one after it was the last.
  CHECK(times_entered(circuit(weir), CircuitPhase::open) <= openings + 1);
  const std::size_t before = back.accepted();
  traffic.wait_for_served(50);
  CHECK(back.accepted() >= before + 50 - kThreads);
  const Traffic::Tally tally = traffic.stop();
  if (with_fallback) CHECK(tally.served + kThreads >= tally.clients());
  if (!with_fallback) CHECK(tally.ended > 0);
  expect_books(weir, tally);
  CHECK(circuit(weir).phase == CircuitPhase::closed);
  CHECK(circuit(weir).probes_in_flight == 0);
  weir.settle();
}

TEST_CASE("a backend that dies under load and comes back is back within its open time") {
  for (const int workers : {1, 2, 4}) dies_and_comes_back(workers, false);
}

TEST_CASE("a backend that dies under load costs its clients nothing where there is a fallback") {
  for (const int workers : {1, 2, 4}) dies_and_comes_back(workers, true);
}

TEST_CASE("a backend that black-holes connects under load is dialled until it trips, and no more") {
  for (const int workers : {1, 2, 4}) {
    Backend hole("127.0.0.1", {}, 0);
    hole.fill_queue();
    const Service good;
    TestWeir weir(circuits_yaml(workers, "max_fails: 1, fail_timeout: 60s",
                                {{hole.address()}, {good.address()}},
                                "connect: " + scaled_ms(300ms)));
    Traffic traffic(weir.address(), kThreads);
    wait_for_phase(weir, "b1", CircuitPhase::open);
    traffic.wait_for_served(200);
    const Traffic::Tally tally = traffic.stop();
    CHECK(tally.served == tally.clients());
    const std::uint64_t dials = dials_that(weir, DialOutcome::timeout);
    CHECK(dials >= 1);
    CHECK(dials <= kThreads);
    std::size_t went_round = 0;
    for (const LogEntry& entry : weir.log(tally.clients())) {
      CHECK(entry.backend == "b2");
      CHECK(entry.duration_ms <= static_cast<double>((scaled(300ms) + at_most(100ms)).count()));
      if (entry.attempts.size() == 1) continue;
      ++went_round;
      REQUIRE(entry.attempts.size() == 2);
      CHECK(entry.attempts[0].outcome == "timeout");
      CHECK(entry.attempts[0].ms > static_cast<double>(scaled(300ms).count()) - 15);
    }
    CHECK(went_round == dials);
    weir.settle();
  }
}

}  // namespace
}  // namespace weir::e2e
