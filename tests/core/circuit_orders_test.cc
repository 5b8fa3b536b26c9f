// What reaches a circuit from outside its dials: operators, reloads and active checks.
#include <doctest/doctest.h>

#include <vector>

#include "tests/core/circuit_story.h"

using namespace weir::core;
using namespace std::chrono_literals;

TEST_CASE("a circuit forced open refuses until it is closed or automatic, whatever the time") {
  CircuitStory story({.fail_timeout = 10s});
  story.circuit.force_open(story.now);
  CHECK(story.status().forced_open);
  CHECK(story.phase() == CircuitPhase::open);
  story.now += 24h;
  CHECK_FALSE(story.eligible());
  CHECK(story.refused());
  CHECK_FALSE(story.status().probe_due);
  CHECK(story.log.causes() == std::vector{TransitionCause::operator_open});

  story.circuit.close(story.now);
  CHECK_FALSE(story.status().forced_open);
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.eligible());
}

TEST_CASE("automatic after a forced open leaves it open with the probe due at once") {
  CircuitStory story({.fail_timeout = 10s});
  story.circuit.force_open(story.now);
  story.circuit.automatic(story.now);
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().probe_due);
  CHECK_FALSE(story.status().forced_open);
  const Permit probe = story.admit();
  CHECK(probe.probe());
  CHECK(story.refused());
}

TEST_CASE("forcing an open circuit open changes no phase, but holds it") {
  CircuitStory story({.fail_timeout = 10s});
  story.fails();
  story.circuit.force_open(story.now);
  CHECK(story.log.told.size() == 1);
  story.now += 1h;
  CHECK(story.refused());
  story.circuit.automatic(story.now);
  CHECK(story.eligible());
}

TEST_CASE("verdicts of dials from before a forced open are stale") {
  CircuitStory story;
  Permit ordinary = story.admit();
  story.circuit.force_open(story.now);
  ordinary.succeed(story.now);
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().stale_results == 1);

  CircuitStory probed;
  probed.trip_until_probe_due();
  Permit probe = probed.admit();
  probed.circuit.force_open(probed.now);
  probe.succeed(probed.now);
  CHECK(probed.phase() == CircuitPhase::open);
  CHECK(probed.status().forced_open);
  CHECK(probed.status().stale_results == 1);
}

TEST_CASE("close is one act: closed, without history, and automatic from there") {
  CircuitStory story({.max_fails = 3});
  story.fails(3);
  story.circuit.close(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.status().fails == 0);
  CHECK(story.log.told.back().cause == TransitionCause::operator_close);
  story.fails(2);
  CHECK(story.phase() == CircuitPhase::closed);
  story.circuit.close(story.now);  // already closed: only the history goes
  CHECK(story.status().fails == 0);
  CHECK(story.log.told.size() == 2);
  story.fails(3);
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("close ends half-open, and its probes are stale") {
  CircuitStory story;
  story.trip_until_probe_due();
  Permit probe = story.admit();
  story.circuit.close(story.now);
  probe.fail(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.status().stale_results == 1);
}

TEST_CASE("bypass admits all and takes no verdict, and automatic resumes where it was") {
  CircuitStory story({.max_fails = 2, .fail_timeout = 10s});
  story.fails(2);
  const TimePoint until = story.status().open_until;
  story.circuit.bypass();
  CHECK(story.status().bypassed);
  CHECK(story.eligible());
  story.succeeds();
  story.fails(5);
  CHECK(story.admit().epoch() == 0);
  Permit given_then = story.admit();
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().rejects == 0);

  story.circuit.automatic(story.now);
  CHECK_FALSE(story.status().bypassed);
  CHECK(story.status().open_until == until);
  CHECK(story.refused());
  story.circuit.close(story.now);
  given_then.fail(story.now);  // no verdict was asked of it, then or later
  CHECK(story.status().fails == 0);
  CHECK(story.status().stale_results == 0);
}

TEST_CASE("a bypass keeps failures on record, and no success in it clears them") {
  CircuitStory story({.max_fails = 3});
  story.fails(2);
  Permit before = story.admit();
  story.circuit.bypass();
  before.succeed(story.now);
  CHECK(story.status().fails == 2);
  story.circuit.automatic(story.now);
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("a probe whose verdict falls into a bypass is neutral") {
  for (const bool succeeds : {true, false}) {
    CAPTURE(succeeds);
    CircuitStory story;
    story.trip_until_probe_due();
    Permit probe = story.admit();
    story.circuit.bypass();
    succeeds ? probe.succeed(story.now) : probe.fail(story.now);
    CHECK(story.phase() == CircuitPhase::half_open);
    CHECK(story.status().probes_in_flight == 0);
    story.circuit.automatic(story.now);
    CHECK(story.admit().probe());
  }
}

TEST_CASE("half-open ends in its time under a bypass too") {
  CircuitStory story({.fail_timeout = 10s});
  story.trip_until_probe_due();
  const Permit probe = story.admit();
  const TimePoint bound = story.status().half_open_until;
  story.circuit.bypass();
  story.now = bound + 1s;
  CHECK(story.eligible());
  story.circuit.automatic(story.now);
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().open_until == bound + 10s);
}

TEST_CASE("of an operator's orders the last one holds, and closing does not end a bypass") {
  CircuitStory story;
  story.circuit.bypass();
  story.circuit.force_open(story.now);
  CHECK(story.refused());
  CHECK_FALSE(story.status().bypassed);
  story.circuit.bypass();
  CHECK(story.eligible());
  CHECK_FALSE(story.status().forced_open);
  story.circuit.close(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.status().bypassed);
  story.fails(5);
  CHECK(story.phase() == CircuitPhase::closed);
}

TEST_CASE("the kill switch admits all, takes no verdict, and keeps the state") {
  CircuitOptions options{.max_fails = 2, .fail_timeout = 10s};
  CircuitStory story(options);
  story.fails(2);
  const CircuitStatus before = story.status();
  options.enabled = false;
  story.circuit.set_options(options, story.now);
  CHECK_FALSE(story.status().enabled);
  CHECK(story.eligible());
  story.succeeds();
  story.fails(5);
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().epoch == before.epoch);

  options.enabled = true;
  story.circuit.set_options(options, story.now);
  CHECK(story.refused());
  CHECK(story.status().open_until == before.open_until);
}

TEST_CASE("a circuit that begins with the kill switch on never refuses") {
  CircuitStory story({.enabled = false});
  story.fails(100);
  CHECK(story.eligible());
  CHECK(story.status().fails == 0);
  CHECK(story.log.told.empty());
}

TEST_CASE("the kill switch outranks a forced open, which is there when it is off again") {
  CircuitStory story;
  story.circuit.force_open(story.now);
  story.circuit.set_options({.enabled = false}, story.now);
  CHECK(story.admit());
  story.circuit.set_options({}, story.now);
  CHECK(story.refused());
  CHECK(story.status().forced_open);
}

TEST_CASE("new thresholds keep the failures that were counted") {
  CircuitStory story({.max_fails = 5});
  story.fails(2);
  story.circuit.set_options({.max_fails = 3}, story.now);
  CHECK(story.status().fails == 2);
  CHECK(story.phase() == CircuitPhase::closed);
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("a new fail_timeout moves no deadline that runs, and holds for the next") {
  CircuitStory story({.fail_timeout = 10s});
  const TimePoint tripped = story.now;
  story.fails();
  story.circuit.set_options({.fail_timeout = 60s}, story.now);
  CHECK(story.status().open_until == tripped + 10s);
  CHECK(story.status().epoch == 2);
  story.now = tripped + 10s;
  story.fails();
  CHECK(story.status().open_until == story.now + 60s);
}

TEST_CASE("half-open that was over before new options came ended by the old ones") {
  CircuitStory story({.fail_timeout = 10s});
  story.trip_until_probe_due();
  const Permit probe = story.admit();
  const TimePoint bound = story.now + 10s;
  story.now = bound + 1s;
  story.circuit.set_options({.fail_timeout = 60s}, story.now);
  CHECK(story.status().open_until == bound + 10s);
}

TEST_CASE("fewer probe slots end no probe, more are free at once") {
  CircuitStory story({.half_open_probes = 3});
  story.trip_until_probe_due();
  std::vector<Permit> probes;
  for (int i = 0; i < 3; ++i) probes.push_back(story.admit());
  story.circuit.set_options({.half_open_probes = 1}, story.now);
  CHECK(story.status().probes_in_flight == 3);
  CHECK(story.status().probes_remaining == 0);
  probes.pop_back();
  CHECK(story.refused());
  story.circuit.set_options({.half_open_probes = 5}, story.now);
  CHECK(story.status().probes_remaining == 3);
  CHECK(story.admit());
  probes.front().succeed(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
}

TEST_CASE("an active check's turn to healthy closes an open circuit and clears its history") {
  CircuitStory story({.max_fails = 3});
  story.fails(3);
  story.circuit.recovered(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.status().fails == 0);
  CHECK(story.log.told.back().cause == TransitionCause::health_recovered);
  CHECK(story.eligible());
}

TEST_CASE("an active check's turn to healthy closes half-open, and its probe is stale") {
  CircuitStory story;
  story.trip_until_probe_due();
  Permit probe = story.admit();
  story.circuit.recovered(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
  probe.fail(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
}

TEST_CASE("an active check's turn to healthy clears failures of a closed circuit") {
  CircuitStory story({.max_fails = 3});
  story.fails(2);
  story.circuit.recovered(story.now);
  CHECK(story.status().fails == 0);
  CHECK(story.log.told.empty());
}

TEST_CASE("an active check does not close what an operator forced open") {
  CircuitStory story;
  story.circuit.force_open(story.now);
  story.circuit.recovered(story.now);
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.refused());
}
