#include <doctest/doctest.h>

#include <vector>

#include "tests/core/circuit_story.h"

using namespace weir::core;
using namespace std::chrono_literals;

namespace {

// A circuit in HALF_OPEN with one probe that never ends.
struct HungProbe : CircuitStory {
  explicit HungProbe(const CircuitOptions& options = {.max_fails = 3, .fail_timeout = 10s})
      : CircuitStory(options) {
    trip_until_probe_due();
    probe = admit();
    REQUIRE(probe.probe());
    bound = now + options.fail_timeout;
  }

  void check_open_again() {
    const CircuitStatus seen = status();
    CHECK(seen.phase == CircuitPhase::open);
    CHECK(seen.open_until == bound + 10s);
    CHECK(seen.probes_in_flight == 0);
    CHECK(log.told.back().cause == TransitionCause::half_open_expired);
    CHECK(log.told.back().at == bound);
  }

  Permit probe;
  TimePoint bound;
};

}  // namespace

TEST_CASE("of many contenders exactly as many are probes as half_open_probes says") {
  for (const std::uint32_t allowed : {1U, 3U, 100U}) {
    CAPTURE(allowed);
    CircuitStory story({.half_open_probes = allowed});
    story.trip_until_probe_due();
    std::vector<Permit> probes;
    for (int i = 0; i < 1000; ++i) {
      if (Permit permit = story.admit()) probes.push_back(std::move(permit));
    }
    CHECK(probes.size() == allowed);
    CHECK(story.status().probes_in_flight == allowed);
    CHECK(story.status().probes_remaining == 0);
    CHECK_FALSE(story.eligible());
    probes.pop_back();
    CHECK(story.status().probes_remaining == 1);
    CHECK(story.eligible());
    CHECK(story.admit());
  }
}

TEST_CASE("half_open_probes of 0 bounds nothing") {
  CircuitStory story({.half_open_probes = 0});
  story.trip_until_probe_due();
  std::vector<Permit> probes;
  for (int i = 0; i < 1000; ++i) probes.push_back(story.admit());
  for (const Permit& probe : probes) REQUIRE(probe.probe());
  CHECK(story.eligible());
  CHECK(story.status().probes_in_flight == 1000);
  CHECK(story.status().probes_remaining == CircuitStatus::kUnbounded);
}

TEST_CASE("looking takes no probe slot") {
  CircuitStory story;
  story.trip_until_probe_due();
  for (int i = 0; i < 10; ++i) CHECK(story.eligible());
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.admit());
}

TEST_CASE("a probe's success closes the circuit and clears all history") {
  CircuitStory story({.max_fails = 3});
  story.trip_until_probe_due();
  story.succeeds();
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.status().fails == 0);
  CHECK(story.status().probes_in_flight == 0);
  CHECK(story.admit().epoch() == story.status().epoch);
  CHECK_FALSE(story.admit().probe());
  story.fails(2);
  CHECK(story.phase() == CircuitPhase::closed);
}

TEST_CASE(
    "a probe's failure re-opens at once for a fresh full open time, whatever max_fails says") {
  CircuitStory story({.max_fails = 100, .fail_timeout = 10s, .half_open_probes = 3});
  story.trip_until_probe_due();
  Permit first = story.admit();
  const Permit second = story.admit();
  story.now += 4s;
  first.fail(story.now);
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().open_until == story.now + 10s);
  CHECK(story.refused());
  story.now += 10s;
  CHECK(story.admit().probe());
}

TEST_CASE("a backend that stays sick costs one probe per open time") {
  CircuitStory story({.fail_timeout = 10s});
  story.fails();
  int dialled = 0;
  for (int tenths = 0; tenths < 600; ++tenths) {
    story.now += 100ms;
    if (Permit permit = story.admit()) {
      permit.fail(story.now);
      ++dialled;
    }
  }
  CHECK(dialled == 6);
}

TEST_CASE("a probe that ends without a verdict leaves its slot to the next client") {
  HungProbe story;
  story.now += 3s;
  CHECK_FALSE(story.eligible());
  story.probe = Permit();
  CHECK(story.phase() == CircuitPhase::half_open);
  CHECK(story.status().half_open_until == story.bound);
  CHECK(story.eligible());
  story.succeeds();
  CHECK(story.phase() == CircuitPhase::closed);
  CHECK(story.status().stale_results == 0);
}

TEST_CASE("the bound on half-open has no jitter, and later probes do not move it") {
  CircuitStory story({.fail_timeout = 10s, .jitter = 1, .half_open_probes = 3});
  story.trip_until_probe_due();
  const TimePoint started = story.now;
  const Permit first = story.admit();
  CHECK(story.status().half_open_until == started + 10s);
  story.now += 5s;
  const Permit second = story.admit();
  CHECK(story.status().half_open_until == started + 10s);
}

TEST_CASE("a hung probe is seen by eligible, which re-arms the circuit") {
  HungProbe story;
  story.now = story.bound - 1ns;
  CHECK_FALSE(story.eligible());
  CHECK(story.log.told.back().to == CircuitPhase::half_open);
  story.now = story.bound;
  CHECK_FALSE(story.eligible());  // open again, for a fresh open time
  CHECK(story.log.told.back().to == CircuitPhase::open);
  story.now = story.bound + 10s;
  CHECK(story.eligible());
  CHECK(story.admit().probe());
}

TEST_CASE("a hung probe that nobody asks about for long is due for another as soon as one asks") {
  HungProbe story;
  story.now = story.bound + 10s;
  CHECK(story.eligible());  // as a selector asks: no admit went before
  CHECK(story.status().probe_due);
  story.check_open_again();
}

TEST_CASE("the end of half-open is seen by admit") {
  HungProbe story;
  story.now = story.bound;
  CHECK(story.refused());
  story.check_open_again();
}

TEST_CASE("the end of half-open is seen by admit even when probe slots are free") {
  HungProbe story({.fail_timeout = 10s, .half_open_probes = 3});
  story.now = story.bound + 1s;
  CHECK(story.refused());
  story.check_open_again();
}

TEST_CASE("the end of half-open is seen by status") {
  HungProbe story;
  story.now = story.bound;
  story.check_open_again();
}

TEST_CASE("the end of half-open is seen by a late success, which closes nothing") {
  HungProbe story;
  story.now = story.bound;
  story.probe.succeed(story.now);
  CHECK(story.log.told.back().to == CircuitPhase::open);
  CHECK(story.status().stale_results == 1);
  story.check_open_again();
}

TEST_CASE("the end of half-open is seen by a late failure, which adds no open time") {
  HungProbe story;
  story.now = story.bound + 7s;
  story.probe.fail(story.now);
  CHECK(story.status().stale_results == 1);
  story.check_open_again();
}

TEST_CASE("a verdict just within the bound counts") {
  HungProbe story;
  story.now = story.bound - 1ns;
  story.probe.succeed(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
}

TEST_CASE("the open time after half-open counts from its bound, however late it is noticed") {
  for (const Duration late : {0s, 1s, 9s, 3600s}) {
    HungProbe story;
    story.now = story.bound + late;
    story.check_open_again();
  }
}

TEST_CASE("the open time after half-open is jittered like any other") {
  CircuitStory story({.fail_timeout = 10s, .jitter = 1});
  story.trip_until_probe_due();
  const Permit probe = story.admit();
  const TimePoint bound = story.now + 10s;
  story.now = bound + 100s;
  const TimePoint until = story.status().open_until;
  CHECK(until > bound + 10s);
  CHECK(until < bound + 20s);
}
