#include "weir/upstream/selector.h"

#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/upstream/made_pool.h"
#include "weir/upstream/pool.h"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::Left;

namespace {

constexpr core::TimePoint kNow{1000s};

// Active checks of which one decides, and circuits that are on.
PoolOptions checked_pool(std::size_t backends) {
  PoolOptions options = made_pool(backends);
  options.health = HealthOptions{.rise = 1, .fall = 1};
  options.resilience.circuit.enabled = true;
  return options;
}

// One connection that is looking for a backend.
struct Story {
  explicit Story(const PoolOptions& options) : pool(options, 1) {}

  std::optional<Selection> select() { return selector.select(pool, plan, 0, kNow); }
  std::string chosen() {
    const auto selection = select();
    return selection ? selection->lease->name() : "none";
  }
  // A dial of that backend was made and failed.
  void dialled(std::size_t place) {
    plan.started(place);
    static_cast<void>(plan.after({core::DialOutcome::refused}, kNow, rng));
  }

  // With `fall` 1.
  void fails_checks(std::size_t place) {
    pool.backend(place).health()->take(core::DialOutcome::refused, kNow);
  }

  Pool pool;
  core::Rng rng{1};
  Selector selector{rng};
  core::DialPlan plan{{}, 5s, kNow};
};

}  // namespace

TEST_CASE("a selection has the place, the lease and the permit of its backend") {
  Story story(made_pool(2));
  const auto selection = story.select();
  REQUIRE(selection);
  CHECK(selection->place == 0);
  CHECK(&*selection->lease == &story.pool.backend(0));
  CHECK(selection->permit);
  CHECK(story.pool.backend(0).active() == 1);
  CHECK(story.selector.left() == Left::some);
}

TEST_CASE("a selection that is dropped leaves nothing behind") {
  Story story(made_pool(2));
  story.select();
  CHECK(story.pool.backend(0).active() == 0);
}

TEST_CASE("weight 0 takes no new sessions") {
  PoolOptions options = made_pool(2);
  options.backends[0].weight = 0;
  Story story(options);
  CHECK(story.chosen() == "b");
}

TEST_CASE("with every weight 0 nobody is left, and no gate has refused") {
  PoolOptions options = made_pool(2);
  for (BackendOptions& backend : options.backends) backend.weight = 0;
  Story story(options);
  CHECK(story.chosen() == "none");
  CHECK(story.selector.left() == Left::none);
  CHECK(core::most_telling(story.selector.refusals()) == core::CloseReason::upstream_unavailable);
}

TEST_CASE("a backend at its limit is passed over, and is told apart when nobody else is there") {
  PoolOptions options = made_pool(2);
  options.backends[0].max_active = options.backends[1].max_active = 1;
  Story story(options);
  const auto first = story.select();
  REQUIRE(first);
  const auto second = story.select();
  REQUIRE(second);
  CHECK(second->place == 1);
  CHECK(story.chosen() == "none");
  CHECK(story.selector.left() == Left::none);
  CHECK(story.selector.refusals().capacity);
  CHECK_FALSE(story.selector.refusals().circuit);
}

TEST_CASE("a backend that this connection has dialled is not chosen again") {
  Story story(made_pool(3));
  CHECK(story.chosen() == "a");
  story.dialled(0);
  CHECK(story.chosen() == "b");
  story.dialled(1);
  CHECK(story.chosen() == "c");
  story.dialled(2);
  CHECK(story.chosen() == "none");
  CHECK(story.selector.left() == Left::only_excluded);
  CHECK_FALSE(story.selector.refusals().capacity);
}

TEST_CASE("the preferred tier is used while one of it is eligible, then the next") {
  PoolOptions options = made_pool(4);
  options.backends[0].priority = options.backends[1].priority = 1;
  options.backends[3].max_active = 1;
  Story story(options);
  CHECK(story.chosen() == "c");
  story.dialled(2);
  const auto last_of_tier = story.select();
  REQUIRE(last_of_tier);
  CHECK(last_of_tier->place == 3);
  CHECK(story.chosen() == "a");  // c is ruled out and d is full
}

TEST_CASE("looking claims nothing and says what is left") {
  PoolOptions options = made_pool(2);
  options.backends[1].priority = 1;
  options.backends[1].max_active = 1;
  Story story(options);
  CHECK(story.selector.look(story.pool, story.plan, kNow) == Left::some);
  CHECK(story.pool.backend(0).active() == 0);
  story.dialled(0);
  CHECK(story.selector.look(story.pool, story.plan, kNow) == Left::some);
  const BackendLease taken = story.pool.backend(1).claim();
  CHECK(story.selector.look(story.pool, story.plan, kNow) == Left::only_excluded);
  CHECK(story.selector.refusals().capacity);
}

TEST_CASE("what an earlier look found is forgotten by the next") {
  PoolOptions options = made_pool(1);
  options.backends[0].max_active = 1;
  Story story(options);
  {
    const BackendLease taken = story.pool.backend(0).claim();
    CHECK(story.chosen() == "none");
    CHECK(story.selector.refusals().capacity);
  }
  CHECK(story.chosen() == "a");
  CHECK_FALSE(story.selector.refusals().capacity);
  CHECK(story.selector.left() == Left::some);
}

TEST_CASE("a backend that its checks find unhealthy is passed over, and comes back with them") {
  Story story(checked_pool(2));
  story.fails_checks(0);
  CHECK(story.chosen() == "b");
  story.pool.backend(0).health()->take(core::DialOutcome::connected, kNow);
  CHECK(story.chosen() == "a");
}

TEST_CASE(
    "with every backend unhealthy nobody is left, and neither circuit nor capacity says why") {
  PoolOptions options = checked_pool(2);
  options.backends[1].priority = 1;
  options.backends[0].max_active = 1;
  Story story(options);
  const BackendLease taken = story.pool.backend(0).claim();
  story.fails_checks(0);
  story.fails_checks(1);
  CHECK(story.chosen() == "none");
  CHECK(story.selector.left() == Left::none);
  CHECK(core::most_telling(story.selector.refusals()) == core::CloseReason::upstream_unavailable);
}

TEST_CASE("an unhealthy tier is passed over for the next") {
  PoolOptions options = checked_pool(3);
  options.backends[2].priority = 1;
  Story story(options);
  story.fails_checks(0);
  CHECK(story.chosen() == "b");
  story.fails_checks(1);
  CHECK(story.chosen() == "c");
}

TEST_CASE("nobody probes a backend that its checks find unhealthy, although a probe is due") {
  Story story(checked_pool(1));
  core::Circuit& circuit = story.pool.backend(0).circuit();
  circuit.admit(kNow - 1h).fail(kNow - 1h);
  REQUIRE(circuit.status(kNow).probe_due);
  story.fails_checks(0);
  CHECK(story.chosen() == "none");
  CHECK_FALSE(story.selector.refusals().circuit);  // it was not asked
  CHECK(circuit.status(kNow).phase == core::CircuitPhase::open);
  CHECK(circuit.status(kNow).rejects == 0);
  story.pool.backend(0).health()->take(core::DialOutcome::connected, kNow);
  CHECK(circuit.status(kNow).phase == core::CircuitPhase::closed);
  CHECK(story.chosen() == "a");
}

TEST_CASE(
    "of an unhealthy backend with an open circuit its health is the reason, not the circuit") {
  Story story(checked_pool(1));
  story.pool.backend(0).circuit().admit(kNow).fail(kNow);
  CHECK(story.chosen() == "none");
  CHECK(core::most_telling(story.selector.refusals()) == core::CloseReason::circuit_open);
  story.fails_checks(0);
  CHECK(story.chosen() == "none");
  CHECK(core::most_telling(story.selector.refusals()) == core::CloseReason::upstream_unavailable);
}

TEST_CASE("a connection whose other backends are unhealthy has only excluded ones left") {
  Story story(checked_pool(2));
  story.fails_checks(1);
  CHECK(story.chosen() == "a");
  story.dialled(0);
  CHECK(story.chosen() == "none");
  CHECK(story.selector.left() == Left::only_excluded);
}

TEST_CASE("ADM-04: whoever loses a claim to another thread chooses again, and all find a place") {
  constexpr int kThreads = 4;
  constexpr int kRounds = 3000;
  PoolOptions options = made_pool(kThreads);
  for (BackendOptions& backend : options.backends) backend.max_active = 1;
  Pool pool(options, kThreads);
  std::atomic<int> arrived{0};
  std::atomic<int> unserved{0};
  // Everybody waits until all have come so far in the same round.
  const auto meet = [&arrived](int times) {
    arrived.fetch_add(1);
    while (arrived.load() < times * kThreads) std::this_thread::yield();
  };
  const auto work = [&](int thread) {
    core::Rng rng(static_cast<std::uint64_t>(thread));
    Selector selector(rng);
    for (int round = 0; round < kRounds; ++round) {
      const core::DialPlan plan({}, 5s, kNow);
      meet(2 * round + 1);
      auto selection = selector.select(pool, plan, 0, kNow);
      if (!selection) unserved.fetch_add(1);
      meet(2 * round + 2);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  CHECK(unserved.load() == 0);
  for (const auto& backend : pool.backends()) CHECK(backend->active() == 0);
}
