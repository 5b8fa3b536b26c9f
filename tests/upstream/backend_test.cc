#include "weir/upstream/backend.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "tests/core/race.h"

using namespace weir;
using namespace weir::upstream;
using core::DialOutcome;

namespace {

BackendOptions options(std::uint32_t max_active = 0) {
  BackendOptions result;
  result.name = "pg-a";
  result.address = core::parse_endpoint("127.0.0.1:5432").endpoint;
  result.max_active = max_active;
  return result;
}

}  // namespace

TEST_CASE("a backend knows its name, its address and its text") {
  const Backend backend(options(), {}, "orders", 1, 1);
  CHECK(backend.name() == "pg-a");
  CHECK(backend.address_text() == "127.0.0.1:5432");
  CHECK(backend.address().text() == "127.0.0.1:5432");
  BackendOptions named = options();
  named.address = core::parse_endpoint("db.internal:5432").endpoint;
  const Backend other(named, {}, "orders", 1, 1);
  CHECK(other.address_text() == "db.internal:5432");
  CHECK_FALSE(other.address());  // known only once it is resolved
}

TEST_CASE("a backend gives as many places as it has, and none more until one is given back") {
  Backend backend(options(2), {}, "orders", 1, 1);
  BackendLease first = backend.claim();
  BackendLease second = backend.claim();
  CHECK(first);
  CHECK(second);
  CHECK(backend.at_capacity());
  CHECK_FALSE(backend.claim());
  CHECK(backend.active() == 2);
  first = {};
  CHECK(backend.active() == 1);
  CHECK_FALSE(backend.at_capacity());
  CHECK(backend.claim());
}

TEST_CASE("a backend without a limit never refuses") {
  Backend backend(options(0), {}, "orders", 1, 1);
  std::vector<BackendLease> leases;
  for (int i = 0; i < 1000; ++i) leases.push_back(backend.claim());
  for (const BackendLease& lease : leases) CHECK(lease);
  CHECK_FALSE(backend.at_capacity());
  CHECK(backend.active() == 1000);
  leases.clear();
  CHECK(backend.active() == 0);
}

TEST_CASE("a moved lease is given back once, by its last holder") {
  Backend backend(options(), {}, "orders", 1, 1);
  {
    BackendLease first = backend.claim();
    CHECK(&*first == &backend);
    CHECK(first->name() == "pg-a");
    BackendLease second(std::move(first));
    CHECK_FALSE(first);
    BackendLease third;
    third = std::move(second);
    CHECK(third);
    CHECK(backend.active() == 1);
  }
  CHECK(backend.active() == 0);
}

TEST_CASE("a place whose client has left counts towards the limit and is not active") {
  Backend backend(options(2), {}, "orders", 1, 1);
  BackendLease first = backend.claim();
  BackendLease second = backend.claim();
  CHECK(first.go_alone());
  CHECK(backend.active() == 1);
  CHECK(backend.at_capacity());
  CHECK_FALSE(backend.claim());
  // One a backend: the next one stays what it is.
  CHECK_FALSE(second.go_alone());
  CHECK(backend.active() == 1);
  BackendLease moved(std::move(first));
  moved = {};
  CHECK_FALSE(backend.at_capacity());
  CHECK(backend.active() == 1);
  CHECK(second.go_alone());
  CHECK(backend.active() == 0);
}

TEST_CASE("of many whose clients leave at once exactly one goes on alone") {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  Backend backend(options(), {}, "orders", 1, kThreads);
  std::atomic<int> alone{0};
  std::atomic<bool> two{false};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        BackendLease lease = backend.claim();
        if (!lease.go_alone()) continue;
        if (alone.fetch_add(1) != 0) two = true;
        alone.fetch_sub(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(two);
  CHECK(backend.active() == 0);
  CHECK(backend.claim().go_alone());
}

TEST_CASE("dials under way are counted by guards") {
  Backend backend(options(), {}, "orders", 1, 1);
  {
    GaugeGuard first = backend.count_dial();
    GaugeGuard second = backend.count_dial();
    CHECK(backend.dialing() == 2);
    GaugeGuard moved(std::move(first));
    CHECK(backend.dialing() == 2);
    second = {};
    CHECK(backend.dialing() == 1);
  }
  CHECK(backend.dialing() == 0);
}

TEST_CASE("ADM-04: the limit of a backend is exact whatever the number of threads") {
  constexpr std::uint32_t kLimit = 3;
  Backend backend(options(kLimit), {}, "orders", 1, 4);
  std::atomic<std::size_t> held{0};
  std::atomic<bool> exceeded{false};
  std::atomic<std::uint64_t> granted{0};
  // Two each, so that two cores are enough to meet at the last place.
  run_together(4, [&](std::size_t) {
    for (std::size_t round = 0; round < 200000 / kScale; ++round) {
      const std::array<BackendLease, 2> leases{backend.claim(), backend.claim()};
      const std::size_t mine = (leases[0] ? 1U : 0U) + (leases[1] ? 1U : 0U);
      granted += mine;
      if (held.fetch_add(mine) + mine > kLimit) exceeded = true;
      held -= mine;
    }
  });
  CHECK_FALSE(exceeded.load());
  CHECK(granted.load() > 0);
  CHECK(backend.active() == 0);
}

TEST_CASE("dial totals are kept per worker and read as a sum") {
  Backend backend(options(), {}, "orders", 1, 3);
  const auto refused = static_cast<std::size_t>(DialOutcome::refused);
  backend.dials(0)[refused].add();
  backend.dials(2)[refused].add(4);
  backend.dials(1)[static_cast<std::size_t>(DialOutcome::connected)].add();
  CHECK(backend.dials(DialOutcome::refused) == 5);
  CHECK(backend.dials(DialOutcome::connected) == 1);
  CHECK(backend.dials(DialOutcome::timeout) == 0);
}

TEST_CASE("a backend off duty gives no place, keeps those it gave, and gives some again after") {
  for (const Duty& off : {Duty{.disabled = true}, Duty{.draining = true}, Duty{.removed = true}}) {
    Backend backend(options(2), {}, "orders", 1, 1);
    BackendLease kept = backend.claim();
    CHECK(backend.takes_sessions());
    backend.set_duty(off);
    CHECK_FALSE(backend.takes_sessions());
    CHECK_FALSE(backend.duty().takes_sessions());
    CHECK_FALSE(backend.claim());
    CHECK(backend.active() == 1);
    CHECK_FALSE(backend.deserted());
    kept = {};
    CHECK(backend.deserted());
    CHECK_FALSE(backend.claim());
    backend.set_duty({});
    CHECK(backend.claim());
  }
}

TEST_CASE(
    "once a backend is off duty nobody takes a place any more, whatever others do just then") {
  for (std::size_t round = 0; round < 2000 / kScale; ++round) {
    Backend backend(options(), {}, "orders", 1, 1);
    std::atomic<bool> off{false};
    std::atomic<int> late{0};
    run_together(3, [&](std::size_t thread) {
      if (thread == 0) {
        backend.set_duty({.disabled = true});
        off = true;
        return;
      }
      for (int i = 0; i < 50; ++i) {
        const bool told = off;
        const BackendLease lease = backend.claim();
        if (told && lease) ++late;
      }
    });
    CHECK(late == 0);
    CHECK(backend.deserted());
  }
}

TEST_CASE("other limits hold from then on, and what is open stays as it is") {
  ResilienceOptions resilience;
  resilience.max_active_per_backend = 3;
  Backend backend(options(), resilience, "orders", 1, 1);
  CHECK(backend.limit() == 3);
  backend.circuit().force_open({});
  resilience.max_active_per_backend = 1;
  backend.retune(options(), resilience, std::nullopt, {});
  CHECK(backend.limit() == 1);
  CHECK(backend.circuit().status({}).forced_open);
  backend.retune(options(7), resilience, std::nullopt, {});
  CHECK(backend.limit() == 7);  // its own replaces the pool's
}

TEST_CASE("places that another process has are left to it") {
  Backend backend(options(3), {}, "orders", 1, 1);
  backend.set_taken_elsewhere(2);
  CHECK_FALSE(backend.at_capacity());
  const BackendLease only = backend.claim();
  CHECK(only);
  CHECK(backend.at_capacity());
  CHECK(backend.occupancy().full);
  CHECK_FALSE(backend.claim());
  backend.set_taken_elsewhere(1);
  CHECK(backend.claim());
  backend.set_taken_elsewhere(UINT32_MAX);
  CHECK_FALSE(backend.claim());
  backend.take_from_elsewhere(UINT32_MAX - 1);
  CHECK(backend.claim());
  backend.take_from_elsewhere(5);  // more than are there
  const BackendLease second = backend.claim();
  const BackendLease third = backend.claim();
  CHECK(third);
  CHECK_FALSE(backend.claim());
}

TEST_CASE("a ceiling holds below the limit, and is none where there is no limit") {
  Backend backend(options(3), {}, "orders", 1, 1);
  BackendLease first = backend.claim();
  backend.set_ceiling(1);
  CHECK_FALSE(backend.claim());
  first = {};
  CHECK(backend.claim());
  backend.set_ceiling(0);
  CHECK_FALSE(backend.claim());
  backend.set_ceiling(UINT32_MAX);
  CHECK(backend.claim());

  Backend unlimited(options(0), {}, "orders", 1, 1);
  unlimited.set_ceiling(0);
  unlimited.set_taken_elsewhere(100);
  CHECK(unlimited.claim());
}
