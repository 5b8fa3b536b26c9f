#include "weir/upstream/backend_health.h"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::CircuitPhase;
using core::DialOutcome;
using core::HealthState;

namespace {

constexpr core::TimePoint kNow{1000s};

// One backend's circuit, which one failed dial opens, and its checks.
struct Story {
  void checks(int times, DialOutcome outcome) {
    for (int i = 0; i < times; ++i) health.take(outcome, kNow);
  }
  void trip() { circuit.admit(kNow).fail(kNow); }
  core::CircuitStatus seen() { return circuit.status(kNow); }

  core::Circuit circuit{{}, 1};
  BackendHealth health{HealthOptions{.rise = 2, .fall = 3}, circuit, "orders", "pg-a"};
};

}  // namespace

TEST_CASE("a backend that was never checked is healthy") {
  const Story story;
  CHECK(story.health.healthy());
  const HealthStatus status = story.health.status();
  CHECK(status.state == HealthState::healthy);
  CHECK(status.consecutive == 0);
  CHECK_FALSE(status.last);
}

TEST_CASE("the gate shuts with the last failure in a row and opens with the last success") {
  Story story;
  story.checks(2, DialOutcome::refused);
  CHECK(story.health.healthy());
  story.checks(1, DialOutcome::timeout);
  CHECK_FALSE(story.health.healthy());
  story.checks(1, DialOutcome::connected);
  CHECK_FALSE(story.health.healthy());
  story.checks(1, DialOutcome::connected);
  CHECK(story.health.healthy());
}

TEST_CASE("the status tells the checks by outcome, the last one, and how near a turn is") {
  Story story;
  story.checks(4, DialOutcome::connected);
  story.checks(1, DialOutcome::refused);
  story.health.take(DialOutcome::timeout, kNow + 5s);
  const HealthStatus status = story.health.status();
  CHECK(status.state == HealthState::healthy);
  CHECK(status.consecutive == 2);
  CHECK(status.checks[static_cast<std::size_t>(DialOutcome::connected)] == 4);
  CHECK(status.checks[static_cast<std::size_t>(DialOutcome::refused)] == 1);
  CHECK(status.last == DialOutcome::timeout);
  CHECK(status.last_at == kNow + 5s);
}

TEST_CASE("a local fault is told and decides nothing") {
  Story story;
  story.checks(10, DialOutcome::local_error);
  CHECK(story.health.healthy());
  CHECK(story.health.status().last == DialOutcome::local_error);
  CHECK(story.health.status().consecutive == 0);
}

TEST_CASE("a turn to healthy closes the circuit") {
  Story story;
  story.trip();
  REQUIRE(story.seen().phase == CircuitPhase::open);
  story.checks(3, DialOutcome::refused);
  story.checks(1, DialOutcome::connected);
  CHECK(story.seen().phase == CircuitPhase::open);
  story.checks(1, DialOutcome::connected);
  CHECK(story.seen().phase == CircuitPhase::closed);
  CHECK(story.seen().fails == 0);
}

TEST_CASE("steady health does not close the circuit") {
  Story story;
  story.checks(5, DialOutcome::connected);
  story.trip();
  story.checks(50, DialOutcome::connected);
  CHECK(story.seen().phase == CircuitPhase::open);
  story.checks(2, DialOutcome::refused);  // not enough to turn, so neither is what follows
  story.checks(50, DialOutcome::connected);
  CHECK(story.seen().phase == CircuitPhase::open);
}

TEST_CASE("a failing check never opens the circuit, nor counts as one of its failures") {
  Story story;
  const std::uint64_t epoch = story.seen().epoch;
  story.checks(50, DialOutcome::refused);
  CHECK_FALSE(story.health.healthy());
  CHECK(story.seen().phase == CircuitPhase::closed);
  CHECK(story.seen().epoch == epoch);
  CHECK(story.seen().fails == 0);
}

TEST_CASE("a turn to healthy leaves a circuit that an operator forced open") {
  Story story;
  story.circuit.force_open(kNow);
  story.checks(3, DialOutcome::refused);
  story.checks(2, DialOutcome::connected);
  CHECK(story.health.healthy());
  CHECK(story.seen().phase == CircuitPhase::open);
}

TEST_CASE(
    "the gate opens when the circuit is closed already, so that nobody is let in and refused") {
  struct Witness final : core::CircuitObserver {
    void on_transition(const core::Transition& transition) override {
      if (transition.to == CircuitPhase::closed) let_in_before = health->healthy();
    }
    const BackendHealth* health = nullptr;
    std::optional<bool> let_in_before;
  };
  Witness witness;
  core::Circuit circuit({}, 1, &witness);
  BackendHealth health(HealthOptions{.rise = 1, .fall = 1}, circuit, "orders", "pg-a");
  witness.health = &health;
  circuit.admit(kNow).fail(kNow);
  health.take(DialOutcome::refused, kNow);
  health.take(DialOutcome::connected, kNow);
  CHECK(witness.let_in_before == false);
  CHECK(health.healthy());
}

TEST_CASE("other thresholds leave the state and the checks in a row") {
  Story story;
  story.checks(2, DialOutcome::refused);
  story.health.set_options(HealthOptions{.rise = 1, .fall = 4});
  CHECK(story.health.status().consecutive == 2);
  story.checks(1, DialOutcome::refused);
  CHECK(story.health.healthy());
  story.checks(1, DialOutcome::refused);
  CHECK_FALSE(story.health.healthy());
  story.health.set_options(HealthOptions{.rise = 3, .fall = 1});
  CHECK_FALSE(story.health.healthy());
  story.checks(2, DialOutcome::connected);
  CHECK_FALSE(story.health.healthy());
  story.checks(1, DialOutcome::connected);
  CHECK(story.health.healthy());
}

TEST_CASE("a backend that is no longer checked is healthy, and begins anew when it is again") {
  Story story;
  story.checks(3, DialOutcome::refused);
  CHECK_FALSE(story.health.healthy());
  story.health.set_options(std::nullopt);
  CHECK(story.health.healthy());
  CHECK_FALSE(story.health.checked());
  story.checks(5, DialOutcome::refused);  // of a check that was under way
  CHECK(story.health.healthy());
  story.health.set_options(HealthOptions{.rise = 2, .fall = 3});
  CHECK(story.health.checked());
  CHECK(story.health.status().consecutive == 0);
  CHECK_FALSE(story.health.status().last);
  CHECK(story.health.status().checks[static_cast<std::size_t>(DialOutcome::refused)] == 3);
  story.checks(2, DialOutcome::refused);
  CHECK(story.health.healthy());
  story.checks(1, DialOutcome::refused);
  CHECK_FALSE(story.health.healthy());
}

TEST_CASE(
    "that the checks of an unhealthy backend end is in the journal, with why it is healthy now") {
  net::Journal journal;
  core::Circuit circuit{{}, 1};
  const HealthOptions checks{.rise = 1, .fall = 1};
  BackendHealth health{checks, circuit, "orders", "pg-a", &journal};
  health.set_options(std::nullopt);
  health.set_options(checks);
  CHECK(journal.last() == 0);  // it was healthy all the time
  health.take(DialOutcome::refused, kNow);
  health.set_options(std::nullopt);
  health.set_options(std::nullopt);
  const auto events = journal.since(1);
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == net::EventKind::health);
  CHECK(events[0].pool == "orders");
  CHECK(events[0].backend == "pg-a");
  CHECK(events[0].to == "healthy");
  CHECK(events[0].cause == "a reload has ended its checks");
}

TEST_CASE("that checks end does not close the circuit that dials have opened") {
  Story story;
  story.checks(3, DialOutcome::refused);
  story.trip();
  story.health.set_options(std::nullopt);
  CHECK(story.seen().phase == CircuitPhase::open);
}

TEST_CASE("a backend that was unhealthy elsewhere is unhealthy here until enough checks succeed") {
  Story story;
  story.trip();
  story.health.restore_unhealthy();
  CHECK_FALSE(story.health.healthy());
  CHECK(story.health.status().state == HealthState::unhealthy);
  CHECK(story.seen().phase == CircuitPhase::open);  // that is not its business
  story.checks(1, DialOutcome::connected);
  CHECK_FALSE(story.health.healthy());
  story.checks(1, DialOutcome::refused);
  story.checks(1, DialOutcome::connected);
  CHECK_FALSE(story.health.healthy());
  story.checks(1, DialOutcome::connected);
  CHECK(story.health.healthy());
  CHECK(story.seen().phase == CircuitPhase::closed);
}

TEST_CASE("a backend that is not checked any more is healthy, whatever it was elsewhere") {
  core::Circuit circuit({}, 1);
  BackendHealth health(std::nullopt, circuit, "orders", "pg-a");
  health.restore_unhealthy();
  CHECK(health.healthy());
}
