// What a dial's end means to the circuit of its backend.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "tests/net/scratch_folder.h"
#include "tests/upstream/dial_story.h"

using namespace weir;
using namespace weir::net;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::CircuitPhase;

namespace {

PoolOptions with_circuits(const std::vector<std::string>& addresses) {
  PoolOptions options = made_pool(addresses);
  options.resilience.circuit = {.max_fails = 1, .fail_timeout = 60s};
  return options;
}

core::CircuitStatus circuit(DialStory& story, std::size_t place) {
  return story.pool.backend(place).circuit().status(story.loop.now());
}

// The next permit is a probe, as if the open time had gone by.
void probe_falls_due(DialStory& story) {
  core::Circuit& circuit = story.pool.backend(0).circuit();
  circuit.admit(story.loop.now()).fail(story.loop.now());
  circuit.force_open(story.loop.now());
  circuit.automatic(story.loop.now());
}

}  // namespace

TEST_CASE("a refused dial is a failure of its backend and of no other") {
  const Refusing a;
  Backlog b;
  DialStory story(with_circuits({a.address().text(), b.address().text()}));
  story.run();
  CHECK(story.attempts == Attempts{"a refused", "b connected"});
  CHECK(circuit(story, 0).phase == CircuitPhase::open);
  CHECK(circuit(story, 1).phase == CircuitPhase::closed);
}

TEST_CASE("a dial that fails on this side is no failure of its backend") {
  ScratchFolder folder;
  Backlog a;
  Backlog b(address_of("unix:" + folder.file("b")));  // needs no local port
  PoolOptions options = with_circuits({a.address().text(), "unix:" + folder.file("b")});
  options.source_address = core::parse_source_address("192.0.2.1").endpoint;
  DialStory story(options);
  story.run();
  CHECK(story.attempts == Attempts{"a local_error", "b connected"});
  CHECK(circuit(story, 0).phase == CircuitPhase::closed);
  CHECK(circuit(story, 0).fails == 0);
}

TEST_CASE("a probe that connects closes the circuit of its backend") {
  Backlog a;
  DialStory story(with_circuits({a.address().text()}));
  probe_falls_due(story);
  story.run();
  CHECK(story.connection);
  CHECK(circuit(story, 0).phase == CircuitPhase::closed);
}

TEST_CASE("a client that leaves during a probe's dial decides nothing and gives the probe back") {
  BlackHole hole;
  DialStory story(with_circuits({hole.address().text()}));
  probe_falls_due(story);
  story.start();
  CHECK(circuit(story, 0).probes_in_flight == 1);
  story.leave();
  CHECK(circuit(story, 0).phase == CircuitPhase::half_open);
  CHECK(circuit(story, 0).probes_in_flight == 0);
}
