#include "weir/upstream/selector.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/core/race.h"
#include "tests/upstream/made_pool.h"
#include "weir/upstream/pool.h"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::Left;

namespace {

constexpr core::TimePoint kNow{1000s};
constexpr core::Duration kOpen = 10s;  // the open time, and the bound on half-open

PoolOptions with_circuits(PoolOptions options) {
  options.resilience.circuit = {.max_fails = 1, .fail_timeout = kOpen};
  return options;
}

// One connection that is looking for a backend.
struct Story {
  explicit Story(const PoolOptions& options) : pool(options, 1) {}

  std::optional<Selection> select() { return selector.select(pool, plan, 0, now); }
  std::string chosen() {
    const auto selection = select();
    return selection ? selection->lease->name() : "none";
  }
  // A dial of that backend was made and failed.
  void dialled(std::size_t place) {
    plan.started(place);
    static_cast<void>(plan.after({core::DialOutcome::refused}, now, rng));
  }
  core::CircuitStatus circuit(std::size_t place) {
    return pool.backend(place).circuit().status(now);
  }
  // Every circuit has opened and waits for its one probe.
  void every_probe_falls_due() {
    for (const auto& backend : pool.backends()) backend->circuit().admit(now).fail(now);
    now += kOpen;
  }

  core::TimePoint now = kNow;
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

TEST_CASE("of two backends that may be probed the one not chosen is left as it was") {
  Story story(with_circuits(made_pool(2)));
  story.every_probe_falls_due();
  const auto first = story.select();
  REQUIRE(first);
  CHECK(first->permit.probe());
  CHECK(story.circuit(0).probes_in_flight == 1);
  CHECK(story.circuit(1).probe_due);  // not half-open: nobody dials it
  const auto second = story.select();
  REQUIRE(second);
  CHECK(second->place == 1);
  CHECK(second->permit.probe());
}

TEST_CASE("of two backends in half-open the one not chosen keeps its probe slot") {
  Story story(with_circuits(made_pool(2)));
  story.every_probe_falls_due();
  (void)story.pool.backend(0).circuit().admit(story.now);  // cut short: half-open, its slot free
  (void)story.pool.backend(1).circuit().admit(story.now);
  const auto selection = story.select();
  REQUIRE(selection);
  CHECK(selection->place == 0);
  CHECK(story.circuit(0).probes_in_flight == 1);
  CHECK(story.circuit(1).probes_in_flight == 0);
}

TEST_CASE("a fallback that is chosen leaves no probe slot taken on the preferred backend") {
  PoolOptions options = with_circuits(made_pool(2));
  options.backends[1].priority = 1;
  Story story(options);
  story.every_probe_falls_due();
  (void)story.pool.backend(0).circuit().admit(story.now);
  story.dialled(0);  // by this connection, so that it may not have it again
  auto selection = story.select();
  REQUIRE(selection);
  CHECK(selection->place == 1);
  CHECK(story.circuit(0).probes_in_flight == 0);
  selection->permit.succeed(story.now);
  CHECK(story.circuit(0).probes_in_flight == 0);
}

TEST_CASE("a preferred backend that is chosen leaves no probe slot taken on the fallback") {
  PoolOptions options = with_circuits(made_pool(2));
  options.backends[1].priority = 1;
  Story story(options);
  story.every_probe_falls_due();
  (void)story.pool.backend(1).circuit().admit(story.now);
  const auto selection = story.select();
  REQUIRE(selection);
  CHECK(selection->place == 0);
  CHECK(story.circuit(1).probes_in_flight == 0);
}

TEST_CASE("under least_connections a backend that has tripped does not win for having nobody") {
  PoolOptions options = with_circuits(made_pool(2));
  options.balance = core::Balance::least_connections;
  Story story(options);
  std::vector<Selection> sessions;
  while (story.pool.backend(1).active() < 5) {
    auto selection = story.select();
    REQUIRE(selection);
    sessions.push_back(std::move(*selection));
  }
  std::erase_if(sessions, [](const Selection& each) { return each.place == 0; });
  REQUIRE(story.pool.backend(0).active() == 0);
  story.pool.backend(0).circuit().admit(story.now).fail(story.now);
  for (int i = 0; i < 20; ++i) CHECK(story.chosen() == "b");
  story.now += kOpen;
  CHECK(story.chosen() == "a");  // its probe is due
}

TEST_CASE("looking takes no probe slot, and says when a circuit is all that is in the way") {
  Story story(with_circuits(made_pool(1)));
  story.pool.backend(0).circuit().admit(story.now).fail(story.now);
  CHECK(story.selector.look(story.pool, story.plan, story.now) == Left::none);
  CHECK(story.selector.refusals().circuit);
  story.now += kOpen;
  CHECK(story.selector.look(story.pool, story.plan, story.now) == Left::some);
  CHECK(story.circuit(0).probe_due);
}

TEST_CASE("BRK-01: a probe that hangs does not keep its backend out, though nobody else asks") {
  Story story(with_circuits(made_pool(1)));
  story.every_probe_falls_due();
  const auto hung = story.select();
  REQUIRE(hung);
  CHECK(story.chosen() == "none");
  story.now += kOpen;  // half-open is over
  CHECK(story.chosen() == "none");
  story.now += kOpen;  // and so is the open time after it
  CHECK(story.chosen() == "a");
}

namespace {

// As many backends of one place each as threads, which all select at the same moment, round after
// round. How many found no place.
int unserved_of(std::size_t threads, std::size_t rounds) {
  PoolOptions options = made_pool(threads);
  for (BackendOptions& backend : options.backends) backend.max_active = 1;
  Pool pool(options, threads);
  std::atomic<std::size_t> arrived{0};
  std::atomic<int> unserved{0};
  // Everybody waits until all have come so far, mostly awake so as to go on together.
  const auto meet = [&arrived, threads](std::size_t times) {
    arrived.fetch_add(1);
    for (std::size_t turn = 1; arrived.load() < times * threads; ++turn) {
      if (turn % 256 == 0) std::this_thread::yield();
    }
  };
  run_together(threads, [&](std::size_t thread) {
    core::Rng rng(thread);
    Selector selector(rng);
    for (std::size_t round = 0; round < rounds; ++round) {
      const core::DialPlan plan({}, 5s, kNow);
      meet(2 * round + 1);
      const auto selection = selector.select(pool, plan, 0, kNow);
      if (!selection) unserved.fetch_add(1);
      meet(2 * round + 2);
    }
  });
  for (const auto& backend : pool.backends()) CHECK(backend->active() == 0);
  return unserved;
}

}  // namespace

TEST_CASE("ADM-04: whoever loses a claim to another thread chooses again, and all find a place") {
  CHECK(unserved_of(2, 20000 / kScale) == 0);
  CHECK(unserved_of(4, 3000 / kScale) == 0);
}
