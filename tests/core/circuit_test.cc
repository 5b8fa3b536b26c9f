#include "weir/core/circuit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "tests/core/allocations.h"
#include "tests/core/circuit_story.h"

using namespace weir::core;
using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<Permit> && !std::is_copy_assignable_v<Permit>);
static_assert(std::is_nothrow_move_constructible_v<Permit>);
static_assert(std::is_nothrow_move_assignable_v<Permit>);

TEST_CASE("a new circuit is closed, in its first epoch") {
  CircuitStory story;
  CHECK(story.eligible());
  CHECK(story.admit().epoch() == 1);
  const CircuitStatus status = story.status();
  CHECK(status.phase == CircuitPhase::closed);
  CHECK(status.epoch == 1);
  CHECK(status.fails == 0);
  CHECK(status.probes_remaining == 0);
  CHECK_FALSE(status.probe_due);
  CHECK(status.enabled);
  CHECK_FALSE(status.bypassed);
  CHECK_FALSE(status.forced_open);
}

TEST_CASE("a permit ends with its verdict") {
  CircuitStory story({.max_fails = 10});
  Permit succeeded = story.admit();
  succeeded.succeed(story.now);
  CHECK_FALSE(succeeded);
  Permit failed = story.admit();
  failed.fail(story.now);
  CHECK_FALSE(failed);
}

TEST_CASE("a permit that moves leaves nothing behind to pass a second verdict with") {
  CircuitStory story;
  story.trip_until_probe_due();
  Permit first = story.admit();
  Permit second(std::move(first));
  CHECK_FALSE(first);
  CHECK(second);
  CHECK(second.probe());
  first = std::move(second);
  CHECK(first);
  CHECK_FALSE(second);
  CHECK(story.status().probes_in_flight == 1);
}

TEST_CASE("a permit that is assigned over gives its probe slot back") {
  CircuitStory story;
  story.trip_until_probe_due();
  Permit probe = story.admit();
  probe = Permit();
  CHECK(story.status().probes_in_flight == 0);
}

TEST_CASE("max_fails failures in a row open the circuit, one fewer does not") {
  CircuitStory story({.max_fails = 3});
  story.fails(2);
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.status().fails == 2);
  CHECK(story.eligible());
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.log.causes() == std::vector{TransitionCause::consecutive_failures});
}

TEST_CASE("a success in between starts the count again") {
  CircuitStory story({.max_fails = 3});
  story.fails(2);
  story.succeeds();
  CHECK(story.status().fails == 0);
  story.fails(2);
  CHECK(story.phase() == CircuitPhase::closed);
}

TEST_CASE("a permit without a verdict decides nothing") {
  CircuitStory story({.max_fails = 2});
  story.fails();
  for (int i = 0; i < 5; ++i) CHECK(story.admit());
  CHECK(story.status().fails == 1);
  CHECK(story.status().probes_in_flight == 0);
  CHECK(story.phase() == CircuitPhase::closed);
}

TEST_CASE("a permit's verdict would count as long as its circuit is closed, in its epoch") {
  CircuitStory story({.max_fails = 1});
  Permit early = story.admit();
  CHECK(early.would_count());
  CHECK_FALSE(Permit().would_count());
  story.fails();
  CHECK_FALSE(early.would_count());
  story.now = story.status().open_until;
  Permit probe = story.admit();
  CHECK_FALSE(probe.would_count());  // a probe ends with its client
  probe.succeed(story.now);
  CHECK_FALSE(early.would_count());
  CHECK(story.admit().would_count());
  story.circuit.bypass();
  CHECK_FALSE(story.admit().would_count());
}

TEST_CASE("an open circuit refuses and counts what it refused, and looking is not counted") {
  CircuitStory story;
  story.fails();
  CHECK_FALSE(story.eligible());
  CHECK(story.refused());
  CHECK(story.refused());
  CHECK(story.status().rejects == 2);
}

TEST_CASE("open lasts fail_timeout to the nanosecond") {
  CircuitStory story({.fail_timeout = 10s});
  const TimePoint tripped = story.now;
  story.fails();
  CHECK(story.status().open_until == tripped + 10s);
  story.now = tripped + 10s - 1ns;
  CHECK_FALSE(story.eligible());
  CHECK(story.refused());
  CHECK_FALSE(story.status().probe_due);
  story.now = tripped + 10s;
  CHECK(story.status().probe_due);
  CHECK(story.eligible());
  CHECK(story.admit());
}

TEST_CASE("past its time the phase stays open until a client takes the probe") {
  CircuitStory story;
  story.fails();
  story.now += 1h;
  CHECK(story.eligible());
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().epoch == 2);
  const Permit probe = story.admit();
  CHECK(probe.probe());
  CHECK(story.phase() == CircuitPhase::half_open);
  CHECK(story.status().epoch == 3);
}

TEST_CASE("jitter makes open longer by up to its share, never shorter, each time otherwise") {
  std::set<Duration> drawn;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CircuitStory story({.fail_timeout = 10s, .jitter = 0.25}, seed);
    const TimePoint tripped = story.now;
    story.fails();
    drawn.insert(story.status().open_until - tripped);
  }
  CHECK(*drawn.begin() >= 10s);
  CHECK(*drawn.begin() < 10100ms);
  CHECK(*drawn.rbegin() < 12500ms);
  CHECK(*drawn.rbegin() > 12400ms);
  CHECK(drawn.size() == 500);

  // One circuit's own openings differ as well.
  CircuitStory story({.fail_timeout = 10s, .jitter = 1});
  drawn.clear();
  for (int i = 0; i < 50; ++i) {
    const TimePoint tripped = story.now;
    story.fails();
    drawn.insert(story.status().open_until - tripped);
    story.now = story.status().open_until;
  }
  CHECK(drawn.size() == 50);
}

TEST_CASE("every transition begins a new epoch and is told with its cause and its time") {
  CircuitStory story({.max_fails = 2, .fail_timeout = 10s});
  const TimePoint start = story.now;
  story.fails(2);
  story.now = start + 10s;
  story.fails();
  story.now = start + 25s;
  story.succeeds();

  struct Expected {
    CircuitPhase from, to;
    TransitionCause cause;
    Duration at;
  };
  const Expected expected[] = {
      {CircuitPhase::closed, CircuitPhase::open, TransitionCause::consecutive_failures, 0s},
      {CircuitPhase::open, CircuitPhase::half_open, TransitionCause::probe_started, 10s},
      {CircuitPhase::half_open, CircuitPhase::open, TransitionCause::probe_failed, 10s},
      {CircuitPhase::open, CircuitPhase::half_open, TransitionCause::probe_started, 25s},
      {CircuitPhase::half_open, CircuitPhase::closed, TransitionCause::probe_succeeded, 25s},
  };
  REQUIRE(story.log.told.size() == std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    CAPTURE(i);
    const Transition& told = story.log.told[i];
    CHECK(told.from == expected[i].from);
    CHECK(told.to == expected[i].to);
    CHECK(told.cause == expected[i].cause);
    CHECK(told.at == start + expected[i].at);
    CHECK(told.epoch == i + 2);
  }
  CHECK(story.status().epoch == 6);
  CHECK(story.status().transitions == std::array<std::uint64_t, 3>{1, 2, 2});
}

TEST_CASE("a circuit needs no observer") {
  Circuit circuit({}, 1);
  circuit.admit(TimePoint{}).fail(TimePoint{});
  CHECK(circuit.status(TimePoint{}).phase == CircuitPhase::open);
}

TEST_CASE("nothing about a circuit allocates") {
  Circuit circuit({.window = 10s, .min_samples = 1000}, 1);
  TimePoint now{1000s};
  const std::uint64_t before = allocations();
  for (int i = 0; i < 1000; ++i) {
    (void)circuit.eligible(now);
    circuit.admit(now).succeed(now);
  }
  for (int i = 0; i < 10; ++i) {
    circuit.admit(now).fail(now);
    (void)circuit.admit(now);
    now += 10s;
    circuit.admit(now).succeed(now);
    (void)circuit.status(now);
  }
  const std::uint64_t after = allocations();
  CHECK(after == before);
}
