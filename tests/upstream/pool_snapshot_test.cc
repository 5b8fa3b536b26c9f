#include "weir/upstream/pool_snapshot.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "tests/core/race.h"
#include "tests/upstream/made_pool.h"
#include "weir/core/random.h"
#include "weir/upstream/pool.h"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::CircuitPhase;
using core::CloseReason;
using core::DialOutcome;

namespace {

constexpr core::TimePoint kNow{1000s};

// Said once more, not to ask the flag about itself.
bool fits(const PoolSnapshot& shown) {
  std::uint64_t at_backends = 0;
  for (const BackendSnapshot& backend : shown.backends) at_backends += backend.active;
  return at_backends <= shown.active && shown.pending <= shown.max_pending;
}

struct Nobody final : core::Waiter::Watcher {
  void on_decided() noexcept override {}
};

}  // namespace

TEST_CASE("a snapshot of a pool shows its gauges, totals and limits") {
  PoolOptions options = made_pool(2);
  options.resilience.admission = {.max_active = 1, .max_pending = 5};
  options.backends[1].weight = 3;
  options.backends[1].priority = 4;
  Pool pool(options, 2);
  const core::Slot slot = pool.admission().try_admit();
  CHECK_FALSE(pool.admission().try_admit());
  Nobody nobody;
  core::Waiter waiter(nullptr, nobody);
  REQUIRE(pool.admission().admit(waiter).outcome == core::Admitted::Outcome::parked);
  const BackendLease lease = pool.backend(1).claim();
  const GaugeGuard dialing = pool.backend(1).count_dial();
  pool.backend(1).dials(0)[static_cast<std::size_t>(DialOutcome::refused)].add(3);
  pool.backend(1).dials(1)[static_cast<std::size_t>(DialOutcome::refused)].add(4);
  pool.totals(0).retries[static_cast<std::size_t>(DialOutcome::connected)].add(5);
  pool.totals(1).retries[static_cast<std::size_t>(DialOutcome::connected)].add(6);
  pool.totals(1).retries_denied.add(8);

  const PoolSnapshot shown = pool.snapshot(kNow);
  CHECK(shown.consistent);
  CHECK(shown.name == "orders");
  CHECK(shown.active == 1);
  CHECK(shown.pending == 1);
  CHECK(shown.max_active == 1);
  CHECK(shown.max_pending == 5);
  CHECK(shown.rejected_as(CloseReason::proxy_overloaded) == 1);
  CHECK(shown.retries[static_cast<std::size_t>(DialOutcome::connected)] == 11);
  CHECK(shown.retry_budget_denied == 8);
  REQUIRE(shown.backends.size() == 2);
  CHECK(shown.backends[0].name == "a");
  CHECK(shown.backends[0].address == "127.0.0.1:1");
  CHECK(shown.backends[0].active == 0);
  CHECK(shown.backends[1].weight == 3);
  CHECK(shown.backends[1].priority == 4);
  CHECK(shown.backends[1].active == 1);
  CHECK(shown.backends[1].dialing == 1);
  CHECK(shown.backends[1].dials_that(DialOutcome::refused) == 7);
  waiter.cancel(CloseReason::client_left_queue);
}

TEST_CASE("a snapshot says of each backend which gate keeps sessions away") {
  PoolOptions options = made_pool(4);
  options.resilience.circuit = {.enabled = true, .max_fails = 1, .fail_timeout = 10s};
  options.backends[1].weight = 0;
  options.backends[2].max_active = 1;
  Pool pool(options, 1);
  const core::Slot slot = pool.admission().try_admit();
  const BackendLease lease = pool.backend(2).claim();
  pool.backend(3).circuit().admit(kNow).fail(kNow);

  const PoolSnapshot shown = pool.snapshot(kNow + 4s);
  CHECK(shown.backends[0].state == BackendState::available);
  CHECK(shown.backends[1].state == BackendState::disabled);
  CHECK(shown.backends[2].state == BackendState::at_capacity);
  CHECK(shown.backends[2].full);
  CHECK(shown.backends[3].state == BackendState::circuit_open);
  CHECK(shown.backends[3].circuit.phase == CircuitPhase::open);
  CHECK(shown.backends[3].circuit.open_until == kNow + 10s);
  CHECK(shown.backends[3].circuit.transitions[1] == 1);
  CHECK(pool.snapshot(kNow + 10s).backends[3].state == BackendState::available);
  const core::Permit probe = pool.backend(3).circuit().admit(kNow + 10s);
  CHECK(pool.snapshot(kNow + 11s).backends[3].state == BackendState::circuit_half_open);
  // Nobody comes, and still the snapshot sees that the probe had its time.
  CHECK(pool.snapshot(kNow + 20s).backends[3].state == BackendState::circuit_open);
}

TEST_CASE("gauges that never fit are shown as they are, and the snapshot says so") {
  Pool pool(made_pool(2), 1);
  const BackendLease without_a_slot = pool.backend(0).claim();
  const PoolSnapshot shown = pool.snapshot(kNow);
  CHECK_FALSE(shown.consistent);
  CHECK(shown.active == 0);
  CHECK(shown.backends[0].active == 1);
  const core::Slot slot = pool.admission().try_admit();
  CHECK(pool.snapshot(kNow).consistent);
}

namespace {

// Sessions come and go on threads of their own, as they do in a pool: slot, place, and back.
class Traffic {
 public:
  Traffic(Pool& pool, std::size_t threads) : pool_(pool) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { run(i); });
  }
  ~Traffic() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  std::size_t ended() const { return ended_.load(std::memory_order_relaxed); }

 private:
  struct Session {
    core::Slot slot;  // given back after the lease
    BackendLease lease;
  };

  // Mostly few at a time, so that there is no slack between the two counts to hide behind.
  void run(std::uint64_t seed) {
    core::Rng rng(seed);
    std::vector<Session> sessions;
    while (!over_) {
      if (rng.below(2) == 0 && sessions.size() < 3) {
        Session session{pool_.admission().try_admit(), {}};
        if (!session.slot) continue;
        session.lease = pool_.backend(rng.below(pool_.size())).claim();
        if (session.lease) sessions.push_back(std::move(session));
      } else if (!sessions.empty()) {
        std::swap(sessions[rng.below(sessions.size())], sessions.back());
        sessions.pop_back();
        ended_.fetch_add(1, std::memory_order_relaxed);
      }
    }
  }

  Pool& pool_;
  std::atomic<bool> over_{false};
  std::atomic<std::size_t> ended_{0};
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("while sessions come and go, whatever a snapshot calls consistent is") {
  constexpr std::uint32_t kLimit = 2;
  constexpr std::size_t kLooks = 20'000 / kScale;
  constexpr std::size_t kSessions = 1000 / kScale;  // at least, should the others get little time
  std::size_t full = 0;
  // Many backends make a long read; few are often full.
  for (const std::size_t backends : {2U, 16U}) {
    for (const std::size_t threads : {1U, 2U, 4U}) {
      PoolOptions options = made_pool(backends);
      options.resilience.max_active_per_backend = kLimit;
      options.resilience.admission.max_active = 8;
      Pool pool(options, threads);
      std::size_t looks = 0;
      std::size_t consistent = 0;
      std::size_t wrong = 0;
      {
        const Traffic traffic(pool, threads);
        for (; looks < kLooks || traffic.ended() < kSessions; ++looks) {
          const PoolSnapshot shown = pool.snapshot(kNow);
          if (shown.consistent != fits(shown)) ++wrong;
          if (shown.consistent) ++consistent;
          for (const BackendSnapshot& backend : shown.backends) {
            if (backend.full) ++full;
            if (backend.active > kLimit || backend.full != (backend.active == kLimit)) ++wrong;
          }
          if (looks % 1024 == 0) std::this_thread::yield();
        }
      }
      CHECK(wrong == 0);
      // What spoils one read is over by the next, or the one after it: never are all of them
      // spoilt.
      CHECK(consistent == looks);
      const PoolSnapshot after = pool.snapshot(kNow);
      CHECK(after.consistent);
      CHECK(after.active == 0);
    }
  }
  CHECK(full > 0);
}
