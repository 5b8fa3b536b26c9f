#include <doctest/doctest.h>

#include "tests/core/circuit_story.h"

using namespace weir::core;
using namespace std::chrono_literals;

namespace {

// So many failures in a row that only the rate can trip.
constexpr std::uint32_t kNeverInARow = 1'000'000;

CircuitOptions by_rate(double rate, std::uint32_t min_samples, Duration window = 10s) {
  return {.max_fails = kNeverInARow,
          .window = window,
          .failure_rate = rate,
          .min_samples = min_samples};
}

void outcomes(CircuitStory& story, int successes, int failures) {
  for (int i = 0; i < successes; ++i) story.succeeds();
  story.fails(failures);
}

}  // namespace

TEST_CASE("below the failure rate the circuit stays closed, at it it opens") {
  CircuitStory story(by_rate(0.5, 20));
  outcomes(story, 15, 14);
  CHECK(story.phase() == CircuitPhase::closed);
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.log.causes() == std::vector{TransitionCause::failure_rate});
}

TEST_CASE("a rate is met exactly, whatever its binary fraction") {
  for (int hundredths = 1; hundredths <= 100; ++hundredths) {
    CAPTURE(hundredths);
    CircuitStory story(by_rate(hundredths / 100.0, 100));
    outcomes(story, 100 - hundredths, hundredths - 1);
    REQUIRE(story.phase() == CircuitPhase::closed);
    story.fails();
    REQUIRE(story.phase() == CircuitPhase::open);
  }
}

TEST_CASE("fewer outcomes than min_samples decide nothing, however bad they are") {
  CircuitStory story(by_rate(0.5, 20));
  story.fails(19);
  CHECK(story.phase() == CircuitPhase::closed);
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("the sample that the minimum waited for may be a success") {
  CircuitStory story(by_rate(0.5, 20));
  story.fails(19);
  story.succeeds();
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("the window slides: failures that have left it do not count") {
  CircuitStory story(by_rate(0.5, 20));
  story.fails(19);
  story.now += 10s;
  story.fails(19);
  CHECK(story.phase() == CircuitPhase::closed);
  story.now += 8s;  // those are still in it
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("successes that have left the window do not hide failures") {
  CircuitStory story(by_rate(0.5, 20));
  outcomes(story, 1000, 0);
  story.now += 5s;
  outcomes(story, 0, 25);
  CHECK(story.phase() == CircuitPhase::closed);
  story.now += 5s;
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("closing clears the window, so that old failures cannot trip again") {
  CircuitStory story(by_rate(0.5, 20, 10min));
  story.fails(20);
  story.now = story.status().open_until;
  story.succeeds();
  CHECK(story.phase() == CircuitPhase::closed);
  story.fails(19);
  CHECK(story.phase() == CircuitPhase::closed);
  story.circuit.recovered(story.now);
  story.fails(19);
  CHECK(story.phase() == CircuitPhase::closed);
  story.circuit.close(story.now);
  story.fails(19);
  CHECK(story.phase() == CircuitPhase::closed);
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("a failed probe re-opens although no minimum of samples is reached") {
  CircuitStory story(by_rate(0.5, 10));
  story.fails(10);
  story.now = story.status().open_until;
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.status().open_until == story.now + 10s);
  CHECK(story.refused());
  story.now += 10s;
  const Permit probe = story.admit();
  CHECK(probe.probe());
  CHECK(story.refused());
}

TEST_CASE("with the rate trigger on failures in a row open the circuit as well") {
  CircuitStory story({.max_fails = 3, .window = 10s, .min_samples = 100});
  outcomes(story, 50, 3);
  CHECK(story.phase() == CircuitPhase::open);
  CHECK(story.log.causes() == std::vector{TransitionCause::consecutive_failures});
}

TEST_CASE("without a window no rate trips") {
  CircuitStory story(by_rate(0.01, 1, 0s));
  story.fails(1000);
  CHECK(story.phase() == CircuitPhase::closed);
}

TEST_CASE("stale verdicts are not in the window") {
  CircuitStory story(by_rate(0.5, 20));
  std::vector<Permit> old;
  for (int i = 0; i < 100; ++i) old.push_back(story.admit());
  story.circuit.force_open(story.now);
  story.circuit.close(story.now);
  for (Permit& permit : old) permit.fail(story.now);
  CHECK(story.phase() == CircuitPhase::closed);
  story.fails(19);
  CHECK(story.phase() == CircuitPhase::closed);
}

TEST_CASE("another rate or minimum applies to the outcomes already counted") {
  CircuitStory story(by_rate(0.9, 20));
  outcomes(story, 20, 20);
  CHECK(story.phase() == CircuitPhase::closed);
  story.circuit.set_options(by_rate(0.5, 20), story.now);
  CHECK(story.phase() == CircuitPhase::closed);
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
}

TEST_CASE("a window that is set later counts from then on, successes included") {
  CircuitStory story(by_rate(0.5, 20, 0s));
  story.fails(1000);
  story.circuit.set_options(by_rate(0.5, 20), story.now);
  outcomes(story, 20, 19);
  CHECK(story.phase() == CircuitPhase::closed);
  story.fails();
  CHECK(story.phase() == CircuitPhase::open);
}
