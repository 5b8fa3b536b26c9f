// Selection with active checks: the gate above the circuit.

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "tests/upstream/made_pool.h"
#include "weir/upstream/pool.h"
#include "weir/upstream/selector.h"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::Left;

namespace {

constexpr core::TimePoint kNow{1000000s};

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

  std::string chosen() {
    const auto selection = selector.select(pool, plan, 0, kNow);
    return selection ? pool.backend(selection->place).name() : "none";
  }
  // A dial of that backend was made and failed.
  void dialled(std::size_t place) {
    plan.started(place);
    static_cast<void>(plan.after({core::DialOutcome::refused}, kNow, rng));
  }
  void fails_checks(std::size_t place) {
    pool.backend(place).health()->take(core::DialOutcome::refused, kNow);
  }

  Pool pool;
  core::Rng rng{1};
  Selector selector{rng};
  core::DialPlan plan{{}, 5s, kNow};
};

}  // namespace

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
