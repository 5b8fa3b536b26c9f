#include <doctest/doctest.h>

#include "tests/core/circuit_story.h"

using namespace weir::core;
using namespace std::chrono_literals;

TEST_CASE("failures that arrive while open do not move the end of it") {
  CircuitStory story({.fail_timeout = 10s});
  Permit late = story.admit();
  Permit later = story.admit();
  story.fails();
  const CircuitStatus before = story.status();
  story.now += 5s;
  late.fail(story.now);
  story.now += 5s;
  CHECK(story.eligible());
  later.fail(story.now);
  const CircuitStatus after = story.status();
  CHECK(after.open_until == before.open_until);
  CHECK(after.fails == before.fails);
  CHECK(after.epoch == before.epoch);
  CHECK(after.stale_results == 2);
}

TEST_CASE("a success that arrives while open closes nothing") {
  CircuitStory story;
  Permit late = story.admit();
  story.fails();
  late.succeed(story.now);
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().fails == 1);
  CHECK(story.status().stale_results == 1);
}

TEST_CASE("an ordinary dial that ends during half-open decides nothing and frees no slot") {
  for (const bool succeeds : {true, false}) {
    CAPTURE(succeeds);
    CircuitStory story;
    Permit ordinary = story.admit();
    Permit neutral = story.admit();
    story.trip_until_probe_due();
    Permit probe = story.admit();
    const CircuitStatus before = story.status();
    succeeds ? ordinary.succeed(story.now) : ordinary.fail(story.now);
    neutral = Permit();
    const CircuitStatus after = story.status();
    CHECK(after.phase == CircuitPhase::half_open);
    CHECK(after.epoch == before.epoch);
    CHECK(after.half_open_until == before.half_open_until);
    CHECK(after.probes_in_flight == 1);
    CHECK(after.stale_results == 1);
    CHECK(story.refused());
    probe.succeed(story.now);
    CHECK(story.phase() == CircuitPhase::closed);
  }
}

TEST_CASE("an ordinary success from before open, recover, close clears no failures") {
  CircuitStory story({.max_fails = 3});
  Permit old = story.admit();
  story.trip_until_probe_due();
  story.succeeds();
  story.fails(2);
  old.succeed(story.now);
  CHECK(story.status().fails == 2);
  CHECK(story.status().stale_results == 1);
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("an ordinary failure from before open, recover, close adds none") {
  CircuitStory story({.max_fails = 3});
  Permit old = story.admit();
  story.trip_until_probe_due();
  story.succeeds();
  story.fails(2);
  old.fail(story.now);
  CHECK(story.status().fails == 2);
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.status().stale_results == 1);
}

TEST_CASE("a late probe does not close a circuit that has opened again") {
  CircuitStory story({.half_open_probes = 2});
  story.trip_until_probe_due();
  Permit slow = story.admit();
  story.fails();
  slow.succeed(story.now);
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().stale_results == 1);
}

TEST_CASE("a late probe decides nothing in the next round of probes") {
  for (const bool succeeds : {true, false}) {
    CAPTURE(succeeds);
    CircuitStory story;
    story.trip_until_probe_due();
    Permit hung = story.admit();
    story.now = story.status().half_open_until;
    story.now = story.status().open_until;
    Permit probe = story.admit();
    REQUIRE(probe.probe());
    succeeds ? hung.succeed(story.now) : hung.fail(story.now);
    CHECK(story.phase() == CircuitPhase::half_open);
    CHECK(story.status().probes_in_flight == 1);
    CHECK(story.status().stale_results == 1);
    CHECK(story.refused());
  }
}

TEST_CASE("a late probe without a verdict frees no slot of the next round") {
  CircuitStory story;
  story.trip_until_probe_due();
  Permit hung = story.admit();
  story.now = story.status().half_open_until;
  story.now = story.status().open_until;
  const Permit probe = story.admit();
  hung = Permit();
  CHECK(story.status().probes_in_flight == 1);
  CHECK(story.refused());
  CHECK(story.status().stale_results == 0);  // it was no result
}

TEST_CASE("probes that outlive the success of another change nothing any more") {
  CircuitStory story({.max_fails = 2, .half_open_probes = 3});
  story.trip_until_probe_due();
  Permit first = story.admit();
  Permit second = story.admit();
  Permit third = story.admit();
  first.succeed(story.now);
  story.fails();
  second.fail(story.now);
  third.succeed(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.status().fails == 1);
  CHECK(story.status().probes_in_flight == 0);
  CHECK(story.status().stale_results == 2);
}
