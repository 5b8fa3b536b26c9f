// A circuit that takes up where that of another process left off.
#include <doctest/doctest.h>

#include <vector>

#include "tests/core/circuit_story.h"

using namespace weir::core;
using namespace std::chrono_literals;

namespace {

// The next process's circuit, at the same moment.
struct Restored : CircuitStory {
  explicit Restored(CircuitStory& before, const CircuitOptions& options = {.fail_timeout = 10s})
      : CircuitStory(options) {
    now = before.now;
    circuit.restore(before.status(), now);
  }
};

}  // namespace

TEST_CASE("a closed circuit is taken up closed, with its failures in a row") {
  CircuitStory before({.max_fails = 3, .fail_timeout = 10s});
  before.fails(2);
  Restored after(before, {.max_fails = 3, .fail_timeout = 10s});
  CHECK(after.phase() == CircuitPhase::closed);
  CHECK(after.status().fails == 2);
  CHECK(after.log.told.empty());
  after.fails();
  CHECK(after.phase() == CircuitPhase::open);

  CircuitStory healthy;
  Restored next(healthy);
  CHECK(next.eligible());
  next.succeeds();
  CHECK(next.status().fails == 0);
}

TEST_CASE("an open circuit is taken up open until the same moment, and is then probed") {
  CircuitStory before({.fail_timeout = 10s});
  before.fails();
  before.now += 4s;
  Restored after(before);
  CHECK(after.phase() == CircuitPhase::open);
  CHECK(after.status().open_until == before.status().open_until);
  CHECK(after.log.causes() == std::vector{TransitionCause::upgraded});
  CHECK(after.refused());
  after.now += 6s;
  CHECK(after.status().probe_due);
  Permit probe = after.admit();
  CHECK(probe.probe());
  probe.succeed(after.now);
  CHECK(after.phase() == CircuitPhase::closed);
}

TEST_CASE("an open circuit whose probe was due is taken up with its probe due") {
  CircuitStory before({.fail_timeout = 10s});
  before.trip_until_probe_due();
  before.now += 1h;
  Restored after(before);
  CHECK(after.phase() == CircuitPhase::open);
  CHECK(after.status().probe_due);
  CHECK(after.admit().probe());
}

TEST_CASE("a half-open circuit is taken up open, until the bound on the other's probe") {
  CircuitStory before({.fail_timeout = 10s});
  before.trip_until_probe_due();
  const Permit probe = before.admit();
  REQUIRE(before.phase() == CircuitPhase::half_open);
  before.now += 3s;
  Restored after(before);
  CHECK(after.phase() == CircuitPhase::open);
  CHECK(after.status().open_until == before.status().half_open_until);
  CHECK(after.refused());
  after.now = after.status().open_until;
  CHECK(after.admit().probe());
}

TEST_CASE(
    "a circuit that was forced open stays so, whatever the time, until it is told otherwise") {
  CircuitStory before({.fail_timeout = 10s});
  before.circuit.force_open(before.now);
  Restored after(before);
  CHECK(after.status().forced_open);
  after.now += 24h;
  CHECK(after.refused());
  after.circuit.automatic(after.now);
  CHECK(after.status().probe_due);
}

TEST_CASE("a bypassed circuit stays bypassed, and keeps what lies below it") {
  CircuitStory before({.fail_timeout = 10s});
  before.fails();
  before.circuit.bypass();
  Restored after(before);
  CHECK(after.status().bypassed);
  CHECK(after.eligible());
  CHECK(after.admit());
  after.circuit.automatic(after.now);
  CHECK(after.phase() == CircuitPhase::open);
  CHECK(after.refused());

  CircuitStory closed;
  closed.circuit.bypass();
  Restored open_to_all(closed);
  CHECK(open_to_all.status().bypassed);
  open_to_all.fails();
  CHECK(open_to_all.phase() == CircuitPhase::closed);
}

TEST_CASE("a circuit that is switched off in the new configuration admits all, whatever was") {
  CircuitStory before({.fail_timeout = 10s});
  before.fails();
  Restored after(before, {.enabled = false});
  CHECK(after.eligible());
  CHECK(after.admit());
}

TEST_CASE("what is taken up can be taken up once more") {
  CircuitStory first({.fail_timeout = 10s});
  first.fails();
  Restored second(first);
  second.now += 1s;
  CircuitStory& between = second;
  Restored third(between);
  CHECK(third.status().open_until == first.status().open_until);
  CHECK(third.refused());
}
