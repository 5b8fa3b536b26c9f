#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// What an observer is shown while everything moves.
namespace weir::e2e {
namespace {

using core::CloseReason;

constexpr std::size_t kClients = 8;
constexpr std::size_t kMostActive = 3;
constexpr std::size_t kMostPending = 2;

// The first thing about the pool that cannot be so at any moment, or nothing.
std::string fault_of(const admin::Snapshot::Pool& pool) {
  if (!pool.consistent) return "not consistent";
  if (pool.active > kMostActive) return "more active than may be";
  if (pool.pending > kMostPending) return "more pending than may be";
  std::uint64_t at_backends = 0;
  for (const auto& backend : pool.backends) at_backends += backend.active;
  if (at_backends > pool.active) return "more at the backends than in the pool";
  return {};
}

TEST_CASE(
    "snapshot: while clients come, wait, are refused and go, a pool's gauges fit each other") {
  for (const int workers : {1, 2, 4}) {
    const auto backends = services(2);
    TestWeir weir(Setup{.workers = workers,
                        .resilience = "max_active_requests: 3, max_pending_requests: 2, "
                                      "pending_timeout: 200ms, max_active_per_backend: 2",
                        .backends = addresses_of(backends)}
                      .yaml());
    std::atomic<bool> over{false};
    std::vector<std::future<void>> clients;
    for (std::size_t i = 0; i < kClients; ++i) {
      clients.push_back(meanwhile([&] {
        while (!over) {
          Stream client = weir.connect();
          client.say("question");
          static_cast<void>(client.hear_if_anything("question"));
        }
      }));
    }
    int looks = 0;
    int busy = 0;
    int waiting = 0;
    const Stopwatch since_start;
    while ((looks < 500 || busy < 50 || waiting < 5) && since_start.elapsed() < patience()) {
      const admin::Snapshot now = weir.snapshot();
      const auto& pool = now.pool("servers");
      const std::string fault = fault_of(pool);
      if (!fault.empty()) FAIL_CHECK(fault, ": ", now.json());
      ++looks;
      if (pool.active > 0) ++busy;
      if (pool.pending > 0) ++waiting;
    }
    over = true;
    for (auto& client : clients) client.get();
    CHECK(busy >= 50);
    CHECK(waiting >= 5);
    weir.settle();
    CHECK(weir.snapshot().listener("front").closed_as(CloseReason::client_closed) > 0);
  }
}

TEST_CASE("snapshot: a backend that is left alone says so, and until when") {
  const DeadPort dead;
  Service live;
  TestWeir weir(Setup{.resilience = "fail_timeout: 60s",
                      .circuit = true,
                      .pool = "balance: first",
                      .backends = {dead.address(), live.address()}}
                    .yaml());
  CHECK(weir.snapshot().backend("servers", "b1").state == upstream::BackendState::available);
  Stream client = weir.connect();
  ask(client);
  client.close();
  weir.expect_closed(CloseReason::client_closed);
  const admin::Snapshot now = weir.snapshot();
  const auto& left_alone = now.backend("servers", "b1");
  CHECK(left_alone.state == upstream::BackendState::circuit_open);
  CHECK(left_alone.circuit.open_until > now.taken);
  CHECK(left_alone.circuit.open_until <= now.taken + 60s);
  CHECK(left_alone.circuit.transitions[static_cast<std::size_t>(core::CircuitPhase::open)] == 1);
  CHECK(now.backend("servers", "b2").state == upstream::BackendState::available);
  weir.settle();
}

}  // namespace
}  // namespace weir::e2e
