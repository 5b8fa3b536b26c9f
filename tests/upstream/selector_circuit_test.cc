// A probe that never ends, seen from where a backend could be wedged: whoever skips a backend
// because its probe slots are taken never asks for the permit that would free them.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>

#include "tests/upstream/made_pool.h"
#include "weir/upstream/pool.h"
#include "weir/upstream/selector.h"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::CircuitPhase;
using core::TimePoint;

namespace {

constexpr core::Duration kFailTimeout = 10s;

PoolOptions probed_pool(std::size_t backends) {
  PoolOptions options = made_pool(backends);
  options.resilience.circuit = {.max_fails = 1, .fail_timeout = kFailTimeout, .jitter = 0};
  for (std::size_t i = 1; i < backends; ++i) options.backends[i].priority = 1;
  return options;
}

// A pool whose preferred backend has tripped and has its one probe out since `probed`.
struct HungProbe {
  explicit HungProbe(std::size_t backends = 1) : pool(probed_pool(backends), 1, 1) {
    choose()->permit.fail(now);
    now += kFailTimeout;
    probe = choose();
    REQUIRE(probe);
    REQUIRE(probe->place == 0);
    REQUIRE(probe->permit.probe());
  }

  // One more client, which has dialled nobody yet.
  std::optional<Selection> choose() {
    const core::DialPlan plan({}, 5s, now);
    return selector.select(pool, plan, 0, now);
  }
  std::string chosen() {
    const auto selection = choose();
    if (selection) return selection->lease->name();
    return std::string(name(core::most_telling(selector.refusals())));
  }
  core::CircuitStatus status() { return pool.backend(0).circuit().status(now); }

  Pool pool;
  core::Rng rng{1};
  Selector selector{rng};
  TimePoint now{1000s};
  const TimePoint probed = now + kFailTimeout;
  std::optional<Selection> probe;
};

}  // namespace

TEST_CASE("a probe that hangs costs one more open time, and then its backend is probed anew") {
  HungProbe story;
  // In HALF_OPEN its one slot is taken.
  for (; story.now < story.probed + kFailTimeout; story.now += 500ms) {
    CHECK(story.chosen() == "circuit_open");
  }
  // Past the bound nobody gets in either, until the open time that began there is over.
  for (; story.now < story.probed + 2 * kFailTimeout; story.now += 500ms) {
    CHECK(story.chosen() == "circuit_open");
  }
  CHECK(story.pool.backend(0).circuit().status(story.now - 1ns).phase == CircuitPhase::open);
  const auto next = story.choose();
  REQUIRE(next);
  CHECK(next->permit.probe());
  CHECK(next->permit.epoch() == story.probe->permit.epoch() + 2);
  CHECK(story.chosen() == "circuit_open");  // one probe, as before
  CHECK(story.status().probes_in_flight == 1);
}

TEST_CASE("a hung probe's open time counts from the bound, whoever asks first and however late") {
  HungProbe story;
  SUBCASE("nobody comes for hours") {
    story.now = story.probed + 3h;
    CHECK(story.choose()->permit.probe());
  }
  SUBCASE("the first client comes within that open time") {
    story.now = story.probed + 2 * kFailTimeout - 1ns;
    CHECK(story.chosen() == "circuit_open");
    story.now += 1ns;
    CHECK(story.choose()->permit.probe());
  }
  SUBCASE("a client only looks") {
    const core::DialPlan plan({}, 5s, story.now);
    story.now = story.probed + 2 * kFailTimeout - 1ns;
    CHECK(story.selector.look(story.pool, plan, story.now) == core::Left::none);
    CHECK(story.selector.refusals().circuit);
    story.now += 1ns;
    CHECK(story.selector.look(story.pool, plan, story.now) == core::Left::some);
    CHECK(story.choose()->permit.probe());
  }
}

TEST_CASE("what a hung probe says at last changes nothing, and the probe after it decides") {
  HungProbe story;
  story.now = story.probed + 2 * kFailTimeout;
  auto next = story.choose();
  REQUIRE(next);
  const core::CircuitStatus before = story.status();
  std::uint64_t stale = 1;
  story.now += 1s;
  SUBCASE("it succeeds") { story.probe->permit.succeed(story.now); }
  SUBCASE("it fails") { story.probe->permit.fail(story.now); }
  SUBCASE("its client leaves") {
    story.probe.reset();
    stale = 0;
  }
  core::CircuitStatus after = story.status();
  CHECK(after.phase == CircuitPhase::half_open);
  CHECK(after.epoch == before.epoch);
  CHECK(after.half_open_until == before.half_open_until);
  CHECK(after.probes_in_flight == 1);
  CHECK(after.stale_results == stale);
  CHECK(story.chosen() == "circuit_open");
  next->permit.succeed(story.now);
  CHECK(story.status().phase == CircuitPhase::closed);
  CHECK(story.chosen() == "a");
}

TEST_CASE(
    "while its probe hangs the fallback serves, and each open time one client tries it again") {
  HungProbe story(2);
  std::vector<std::optional<Selection>> streams;  // each of them a probe that will last for hours
  for (; story.now < story.probed + 1h; story.now += 1s) {
    auto selection = story.choose();
    REQUIRE(selection);
    if (selection->place == 0) streams.push_back(std::move(selection));
  }
  // A round is HALF_OPEN to its bound and one open time.
  CHECK(streams.size() == 1h / (2 * kFailTimeout) - 1);
  // The last of them comes to an end while its round lasts: everybody goes home.
  story.now = story.probed + 1h;
  auto last = story.choose();
  REQUIRE(last->permit.probe());
  for (auto& stream : streams) stream->permit.fail(story.now);
  CHECK(story.chosen() == "b");
  last->permit.succeed(story.now);
  CHECK(story.chosen() == "a");
  CHECK(story.pool.backend(0).active() == streams.size() + 2);
}
