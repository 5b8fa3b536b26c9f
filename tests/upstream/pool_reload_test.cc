#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/core/queued_client.h"
#include "tests/upstream/made_pool.h"
#include "weir/upstream/pool.h"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::CircuitPhase;
using core::CloseReason;

namespace {

constexpr core::TimePoint kNow{1000s};

// A pool that is reloaded again and again.
struct Story {
  explicit Story(PoolOptions with) : options(std::move(with)), pool(Pool::make(options, 1)) {}

  void reload() { pool = Pool::reload(pool, options, kNow); }
  core::CircuitStatus circuit(std::size_t place) {
    return pool->backend(place).circuit_status(kNow);
  }

  PoolOptions options;
  std::shared_ptr<Pool> pool;
};

PoolOptions with_circuits(std::size_t backends) {
  PoolOptions options = made_pool(backends);
  options.resilience.circuit = {.max_fails = 1, .fail_timeout = 10s};
  return options;
}

core::Circuit& circuit(Story& story, std::size_t place) {
  return story.pool->backend(place).circuit();
}

}  // namespace

TEST_CASE("a reload keeps backends by name and address, in the new order") {
  Story story(made_pool(3));
  const std::vector<std::shared_ptr<Backend>> before(story.pool->backends().begin(),
                                                     story.pool->backends().end());
  std::swap(story.options.backends[0], story.options.backends[2]);
  story.options.backends[0].weight = 5;
  story.options.backends[1].priority = 2;
  story.reload();
  CHECK(story.pool->backends()[0] == before[2]);
  CHECK(story.pool->backends()[1] == before[1]);
  CHECK(story.pool->backends()[2] == before[0]);
  CHECK(story.pool->weight(0) == 5);
  REQUIRE(story.pool->tiers().size() == 2);
  CHECK(story.pool->tiers()[1].backends == std::vector<std::size_t>{1});
}

TEST_CASE("a reload keeps an open circuit open until the time that was set, with new thresholds") {
  Story story(with_circuits(2));
  circuit(story, 0).admit(kNow).fail(kNow);
  const core::CircuitStatus before = story.circuit(0);
  REQUIRE(before.phase == CircuitPhase::open);
  story.options.resilience.circuit.max_fails = 2;
  story.options.resilience.circuit.fail_timeout = 1h;
  story.options.balance = core::Balance::least_connections;
  story.options.timeouts.connect = 1s;
  story.options.health = HealthOptions{};
  story.reload();
  CHECK(story.circuit(0).phase == CircuitPhase::open);
  CHECK(story.circuit(0).open_until == before.open_until);
  CHECK(story.circuit(0).epoch == before.epoch);
  circuit(story, 1).admit(kNow).fail(kNow);
  CHECK(story.circuit(1).phase == CircuitPhase::closed);
  circuit(story, 1).admit(kNow).fail(kNow);
  CHECK(story.circuit(1).open_until == kNow + 1h);
}

TEST_CASE("a backend whose address changes is a new one, and the old one takes no sessions") {
  Story story(with_circuits(2));
  const std::shared_ptr<Backend> before = story.pool->backends()[0];
  const BackendLease session = before->claim();
  circuit(story, 0).admit(kNow).fail(kNow);
  story.options.backends[0].address = core::parse_endpoint("127.0.0.1:99").endpoint;
  story.reload();
  CHECK(story.pool->backends()[0] != before);
  CHECK(story.circuit(0).phase == CircuitPhase::closed);
  CHECK(story.circuit(0).epoch == 1);
  CHECK_FALSE(before->claim());
  const PoolSnapshot shown = story.pool->snapshot(kNow);
  REQUIRE(shown.backends.size() == 3);
  CHECK(shown.backends[2].removed);
  CHECK(shown.backends[2].address == "127.0.0.1:1");
  CHECK(shown.backends[2].active == 1);
  CHECK(shown.backends[2].state == BackendState::draining);
}

TEST_CASE("two names that exchange their addresses are two new backends") {
  Story story(with_circuits(2));
  circuit(story, 0).admit(kNow).fail(kNow);
  std::swap(story.options.backends[0].address, story.options.backends[1].address);
  story.reload();
  for (const std::size_t place : {0U, 1U}) CHECK(story.circuit(place).epoch == 1);
}

TEST_CASE("a backend that leaves and comes back is the same only while it has sessions") {
  for (const bool stays : {true, false}) {
    Story story(with_circuits(2));
    const std::shared_ptr<Backend> before = story.pool->backends()[1];
    BackendLease session = before->claim();
    circuit(story, 1).admit(kNow).fail(kNow);
    const BackendOptions leaving = story.options.backends[1];
    story.options.backends.pop_back();
    story.reload();
    CHECK_FALSE(before->claim());
    if (!stays) session = {};
    story.options.backends.push_back(leaving);
    story.reload();
    CHECK((story.pool->backends()[1] == before) == stays);
    CHECK(story.circuit(1).phase == (stays ? CircuitPhase::open : CircuitPhase::closed));
    CHECK(story.pool->backend(1).claim());
  }
}

TEST_CASE("the totals of a pool never fall, whoever leaves") {
  Story story(with_circuits(3));
  const auto connected = [&story] {
    return story.pool->snapshot(kNow)
        .totals.dials[static_cast<std::size_t>(core::DialOutcome::connected)];
  };
  std::uint64_t sum = 0;
  core::Rng rng(7);
  std::vector<BackendLease> sessions;
  for (int round = 0; round < 200; ++round) {
    for (const auto& backend : story.pool->backends()) {
      backend->dials(0)[static_cast<std::size_t>(core::DialOutcome::connected)].add();
      ++sum;
      if (rng.below(3) == 0) sessions.push_back(backend->claim());
    }
    if (rng.below(4) == 0) sessions.clear();
    if (rng.below(3) == 0) story.pool->state().forget_deserted(kNow);
    story.options.backends = made_pool(1 + rng.below(3)).backends;
    if (rng.below(2) == 0) {
      story.options.backends[0].address = core::parse_endpoint("127.0.0.1:99").endpoint;
    }
    story.reload();
    CHECK(connected() == sum);
  }
}

TEST_CASE("those who wait are woken by a raised limit, and find the new backends") {
  PoolOptions options = made_pool(1);
  options.resilience.admission = {1, 10};
  Story story(options);
  const std::shared_ptr<Pool> before = story.pool;
  QueuedClient first(before->admission());
  first.arrive();
  QueuedClient second(before->admission());
  second.arrive();
  QueuedClient third(before->admission());
  third.arrive();
  REQUIRE(second.parked());
  // Whom the waking finds in force is what a session goes on with.
  struct Found {
    Pool* pool;
    std::shared_ptr<Pool> successor;
  } found{before.get(), nullptr};
  second.with = &found;
  second.when_decided = [](void* with) {
    auto& into = *static_cast<Found*>(with);
    into.successor = into.pool->successor();
  };
  story.options.resilience.admission = {2, 10};
  story.options.backends = made_pool(2).backends;
  story.reload();
  CHECK(second.served());
  CHECK(third.parked());
  CHECK(found.successor == story.pool);
  CHECK(story.pool->admission().active() == 2);
  CHECK(&story.pool->admission() == &before->admission());
  story.options.resilience.admission = {1, 10};
  story.reload();
  first.finish();
  CHECK(third.parked());
  second.finish();
  CHECK(third.served());
  third.finish();
}

TEST_CASE("the limit of a backend is the new one, and ends no session") {
  PoolOptions options = made_pool(1);
  options.resilience.max_active_per_backend = 2;
  Story story(options);
  Backend& backend = story.pool->backend(0);
  BackendLease first = backend.claim();
  BackendLease second = backend.claim();
  story.options.resilience.max_active_per_backend = 1;
  story.reload();
  CHECK(backend.active() == 2);
  second = {};
  CHECK_FALSE(backend.claim());
  first = {};
  CHECK(backend.claim());
  story.options.backends[0].max_active = 3;
  story.reload();
  CHECK(backend.limit() == 3);
}

TEST_CASE("checks come and go with a reload, and a backend without them is healthy") {
  PoolOptions options = made_pool(1);
  options.health = HealthOptions{.rise = 1, .fall = 1};
  Story story(options);
  Backend& backend = story.pool->backend(0);
  backend.health()->take(core::DialOutcome::refused, kNow);
  CHECK_FALSE(backend.healthy());
  story.options.health->interval = 1s;
  story.reload();
  CHECK_FALSE(backend.healthy());
  story.options.health.reset();
  story.reload();
  CHECK(backend.healthy());
  CHECK(backend.health() == nullptr);
  story.options.health = HealthOptions{.rise = 1, .fall = 2};
  story.reload();
  REQUIRE(backend.health() != nullptr);
  CHECK(backend.healthy());
}

TEST_CASE("a pool knows its successor, the newest of them, and only once it has one") {
  Story story(made_pool(1));
  const std::shared_ptr<Pool> first = story.pool;
  CHECK(first->successor() == nullptr);
  story.reload();
  const std::shared_ptr<Pool> second = story.pool;
  CHECK(first->successor() == second);
  CHECK(second->successor() == nullptr);
  story.reload();
  CHECK(first->successor() == story.pool);
  CHECK(second->successor() == story.pool);
}

TEST_CASE("the window of the retry budget is kept") {
  PoolOptions options = made_pool(1);
  options.resilience.retry_budget_percent = 10;
  Story story(options);
  core::RetryBudget& budget = story.pool->retry_budget();
  for (int i = 0; i < 3; ++i) CHECK(budget.try_retry(kNow));
  CHECK_FALSE(budget.try_retry(kNow));
  story.options.resilience.retry_budget_percent = 20;
  story.reload();
  CHECK(&story.pool->retry_budget() == &budget);
  CHECK_FALSE(budget.try_retry(kNow));  // of no primary 20 % are none
}
