#include "weir/admin/why.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "tests/admin/made_snapshot.h"
#include "weir/net/wall_clock.h"

using namespace weir;
using namespace weir::admin;
using namespace std::chrono_literals;
using core::CircuitPhase;
using upstream::BackendState;

namespace {

// The pool `orders`, asked why after `change` was made to its first backend.
template <typename Change>
Why asked(const Change& change) {
  Snapshot snapshot = made_snapshot();
  change(snapshot.pools[0].backends[0]);
  return why(snapshot.pools[0], snapshot);
}

template <typename Change>
BackendWhy first(const Change& change) {
  return asked(change).backends[0];
}

std::string text(std::optional<net::WallTime> moment) {
  std::string written;
  if (moment) net::WallClock().append(written, *moment);
  return written;
}

}  // namespace

TEST_CASE("why: a pool in its ordinary state is ok, and the lower tier stands by") {
  const Why made = asked([](auto&) {});
  CHECK(made.verdict == PoolVerdict::ok);
  CHECK(made.eligible == 2);
  REQUIRE(made.backends.size() == 2);
  CHECK(made.backends[0].name == "pg-a");
  CHECK_FALSE(made.backends[0].gate);
  CHECK_FALSE(made.backends[0].until);
  CHECK(made.backends[0].hint.empty());
  CHECK(made.backends[1].priority == 1);
  CHECK_FALSE(made.backends[1].gate);
  CHECK(made.backends[1].hint == "stands by: priority 0 is in use");
}

TEST_CASE("why: a backend that an operator disabled needs an operator") {
  const Why made = asked([](auto& backend) {
    backend.disabled = true;
    backend.state = BackendState::disabled;
  });
  CHECK(made.backends[0].gate == Gate::administrative);
  CHECK(made.backends[0].state == BackendState::disabled);
  CHECK_FALSE(made.backends[0].until);
  CHECK(made.backends[0].hint == "weirctl enable orders/pg-a");
  CHECK(made.verdict == PoolVerdict::degraded);  // the lower tier is in use
  CHECK(made.eligible == 1);
  CHECK(made.backends[1].hint.empty());
}

TEST_CASE("why: a drain is over only for its sessions when its end comes") {
  const BackendWhy made = first([](auto& backend) {
    backend.draining = true;
    backend.drain_until = core::TimePoint(1030s);
  });
  CHECK(made.gate == Gate::administrative);
  CHECK_FALSE(made.until);
  CHECK(made.hint ==
        "weirctl enable orders/pg-a; what still runs on it ends at 2026-11-30T12:00:30.000Z");
  CHECK(first([](auto& backend) { backend.draining = true; }).hint == "weirctl enable orders/pg-a");
}

TEST_CASE("why: a weight of 0 is the file's, also where an operator has disabled too") {
  const BackendWhy made = first([](auto& backend) { backend.weight = 0; });
  CHECK(made.gate == Gate::administrative);
  CHECK(made.hint == "set its weight above 0 and reload");
  CHECK(first([](auto& backend) {
          backend.weight = 0;
          backend.disabled = true;
        }).hint == "weirctl enable orders/pg-a, and set its weight above 0 and reload");
}

TEST_CASE("why: a backend that is gone from the file does not count for the pool") {
  const Why made = asked([](auto& backend) {
    backend.removed = backend.draining = true;
    backend.circuit.phase = CircuitPhase::open;
  });
  CHECK(made.backends[0].gate == Gate::administrative);
  CHECK(made.backends[0].hint == "gone from the configuration: put it back and reload");
  CHECK(made.verdict == PoolVerdict::ok);
  CHECK(made.eligible == 1);
}

TEST_CASE("why: an unhealthy backend says what its last check met") {
  const auto unhealthy = [](Snapshot::Backend& backend) {
    backend.health.emplace();
    backend.health->state = core::HealthState::unhealthy;
    backend.health->last = core::DialOutcome::refused;
    backend.health->last_at = core::TimePoint(999s);
    backend.circuit.phase = CircuitPhase::open;  // asked later
  };
  const Why made = asked(unhealthy);
  CHECK(made.backends[0].gate == Gate::health);
  CHECK_FALSE(made.backends[0].until);
  CHECK(made.backends[0].hint ==
        "its checks must succeed again; the last one, at 2026-11-30T11:59:59.000Z: refused");
  CHECK(made.verdict == PoolVerdict::degraded);
  CHECK_FALSE(first([](auto& backend) { backend.health.emplace(); }).gate);
}

TEST_CASE("why: an open circuit says from when on a client is the probe") {
  const auto open = [](Snapshot::Backend& backend) {
    backend.circuit.phase = CircuitPhase::open;
    backend.circuit.open_until = core::TimePoint(1010s);
    backend.full = true;  // asked later
  };
  const BackendWhy made = first(open);
  CHECK(made.gate == Gate::circuit);
  CHECK(text(made.until) == "2026-11-30T12:00:10.000Z");
  CHECK(made.hint ==
        "the next client after 2026-11-30T12:00:10.000Z is the probe; weirctl circuit orders/pg-a "
        "close lets clients in now");
  const BackendWhy due = first([](auto& backend) {
    backend.circuit.phase = CircuitPhase::open;
    backend.circuit.probe_due = true;
  });
  CHECK_FALSE(due.gate);
  CHECK(due.hint == "the next client is a probe");
}

TEST_CASE("why: a circuit that an operator opened stays open until an operator says so") {
  const BackendWhy made = first([](auto& backend) {
    backend.circuit.phase = CircuitPhase::open;
    backend.circuit.forced_open = true;
    backend.circuit.open_until = core::TimePoint(1010s);
  });
  CHECK(made.gate == Gate::circuit);
  CHECK_FALSE(made.until);
  CHECK(made.hint == "opened by an operator: weirctl circuit orders/pg-a auto");
}

TEST_CASE("why: a half-open circuit without a free slot waits for its probe") {
  const auto half_open = [](std::uint32_t remaining) {
    return [remaining](Snapshot::Backend& backend) {
      backend.circuit.phase = CircuitPhase::half_open;
      backend.circuit.probes_remaining = remaining;
      backend.circuit.half_open_until = core::TimePoint(1005s + 1ms);
    };
  };
  const BackendWhy made = first(half_open(0));
  CHECK(made.gate == Gate::circuit);
  CHECK(text(made.until) == "2026-11-30T12:00:05.001Z");
  CHECK(made.hint ==
        "its probe decides by 2026-11-30T12:00:05.001Z; weirctl circuit orders/pg-a close lets "
        "clients in now");
  CHECK_FALSE(first(half_open(1)).gate);
  CHECK(first(half_open(1)).hint == "the next client is a probe");
}

TEST_CASE("why: a bypassed or disabled circuit refuses nobody") {
  const BackendWhy bypassed = first([](auto& backend) {
    backend.circuit.phase = CircuitPhase::open;
    backend.circuit.bypassed = true;
  });
  CHECK_FALSE(bypassed.gate);
  CHECK(bypassed.hint == "its circuit is bypassed: weirctl circuit orders/pg-a auto");
  const BackendWhy off = first([](auto& backend) {
    backend.circuit.phase = CircuitPhase::open;
    backend.circuit.enabled = false;
  });
  CHECK_FALSE(off.gate);
  CHECK(off.hint.empty());
}

TEST_CASE("why: a full backend says what its limit is and which keys set it") {
  const Why made = asked([](auto& backend) {
    backend.full = true;
    backend.active = backend.max_active = 10;
  });
  CHECK(made.backends[0].gate == Gate::capacity);
  CHECK_FALSE(made.backends[0].until);
  CHECK(made.backends[0].hint ==
        "one of its 10 sessions ends, or raise max_active_per_backend or the backend's max_active "
        "(now 10) and reload");
  CHECK(made.verdict == PoolVerdict::degraded);  // for the tier below
}

TEST_CASE("why: a full backend beside another of its tier is no trouble of the pool's") {
  Snapshot snapshot = made_snapshot();
  snapshot.pools[0].backends[1].priority = 0;
  snapshot.pools[0].backends[0].full = true;
  CHECK(why(snapshot.pools[0], snapshot).verdict == PoolVerdict::ok);
  Snapshot circuit = snapshot;
  circuit.pools[0].backends[0].circuit.phase = CircuitPhase::open;
  CHECK(why(circuit.pools[0], circuit).verdict == PoolVerdict::degraded);
  snapshot.pools[0].backends[0].health.emplace().state = core::HealthState::unhealthy;
  CHECK(why(snapshot.pools[0], snapshot).verdict == PoolVerdict::degraded);
}

TEST_CASE("why: a pool none of whose backends may be chosen is down") {
  Snapshot snapshot = made_snapshot();
  for (auto& backend : snapshot.pools[0].backends) backend.full = true;
  const Why made = why(snapshot.pools[0], snapshot);
  CHECK(made.verdict == PoolVerdict::down);
  CHECK(made.eligible == 0);
  snapshot.pools[0].backends.clear();
  CHECK(why(snapshot.pools[0], snapshot).verdict == PoolVerdict::down);
}

TEST_CASE("gates and verdicts carry the words of the API") {
  CHECK(name(Gate::administrative) == "administrative");
  CHECK(name(Gate::health) == "health");
  CHECK(name(Gate::circuit) == "circuit");
  CHECK(name(Gate::capacity) == "capacity");
  CHECK(name(PoolVerdict::ok) == "ok");
  CHECK(name(PoolVerdict::degraded) == "degraded");
  CHECK(name(PoolVerdict::down) == "down");
}
