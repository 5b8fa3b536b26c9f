#include "app/handover.h"

#include <doctest/doctest.h>

#include <exception>
#include <string>

using namespace weir;
using namespace weir::app;
using namespace std::chrono_literals;

namespace {

// Whatever is not one of them, and each of them cut off at every place.
template <typename Read>
void throws_for_nonsense(const std::string& good, const Read& read) {
  CHECK_NOTHROW(static_cast<void>(read(good)));
  for (std::size_t length = 0; length < good.size(); ++length) {
    CHECK_THROWS_AS(static_cast<void>(read(good.substr(0, length))), std::exception);
  }
  for (const char* nonsense : {"", "null", "[]", "{}", "7", "\"text\"", "serves", "{\"a\":[1]}"}) {
    CHECK_THROWS_AS(static_cast<void>(read(nonsense)), std::exception);
  }
}

State some_state() {
  State state;
  state.generation = 7;
  state.last_session = 123456789012345;
  HandedBackend& backend = state.backends.emplace_back();
  backend.pool = "orders";
  backend.name = "pg-a";
  backend.address = "127.0.0.1:5432";
  backend.duty.draining = true;
  backend.duty.drain_until = core::TimePoint(77s);
  backend.circuit.phase = core::CircuitPhase::half_open;
  backend.circuit.fails = 3;
  backend.circuit.open_until = core::TimePoint(5s);
  backend.circuit.half_open_until = core::TimePoint(15s);
  HandedBackend& other = state.backends.emplace_back();
  other.name = "pg-b";
  other.duty.disabled = true;
  other.circuit.bypassed = true;
  other.circuit.forced_open = true;
  other.unhealthy = true;
  state.events.push_back({4, net::WallTime(1'796'040'000'123ms), net::EventKind::drain, "orders",
                          "pg-a", "draining", "an \"operator\"\n\xff"});
  return state;
}

}  // namespace

TEST_CASE("a welcome and its answer are read as they were written") {
  CHECK(read_welcome(text(Welcome{41})).sockets == 41);
  CHECK(read_welcome(text(Welcome{41})).owns_paths);
  CHECK_FALSE(read_welcome(text(Welcome{41, false})).owns_paths);
  Ready ready;
  ready.adopted = {0, 3, 40};
  CHECK(read_ready(text(ready)).adopted == ready.adopted);
  CHECK(read_ready(text(ready)).failure.empty());
  ready.failure = "listener \"orders\": in use";
  CHECK(read_ready(text(ready)).failure == ready.failure);
}

TEST_CASE("a process that speaks another version is told from the first word") {
  std::string other = text(Welcome{1});
  const std::string version = "\"version\":" + std::to_string(kHandoverVersion);
  other.replace(other.find(version), version.size(), "\"version\":999");
  CHECK_THROWS_WITH(static_cast<void>(read_welcome(other)), "it is of another kind");
}

TEST_CASE("a state is read as it was written, to the tick") {
  const State state = some_state();
  const State read = read_state(text(state));
  CHECK(read.generation == 7);
  CHECK(read.last_session == 123456789012345);
  REQUIRE(read.backends.size() == 2);
  const HandedBackend& backend = read.backends[0];
  CHECK(backend.pool == "orders");
  CHECK(backend.name == "pg-a");
  CHECK(backend.address == "127.0.0.1:5432");
  CHECK(backend.duty.draining);
  CHECK_FALSE(backend.duty.disabled);
  CHECK(backend.duty.drain_until == core::TimePoint(77s));
  CHECK(backend.circuit.phase == core::CircuitPhase::half_open);
  CHECK(backend.circuit.fails == 3);
  CHECK(backend.circuit.open_until == core::TimePoint(5s));
  CHECK(backend.circuit.half_open_until == core::TimePoint(15s));
  CHECK_FALSE(backend.circuit.bypassed);
  CHECK_FALSE(backend.unhealthy);
  CHECK(read.backends[1].duty.disabled);
  CHECK(read.backends[1].duty.drain_until == core::kNever);
  CHECK(read.backends[1].circuit.bypassed);
  CHECK(read.backends[1].circuit.forced_open);
  CHECK(read.backends[1].unhealthy);
  REQUIRE(read.events.size() == 1);
  CHECK(read.events[0].seq == 4);
  CHECK(read.events[0].at == state.events[0].at);
  CHECK(read.events[0].kind == net::EventKind::drain);
  CHECK(read.events[0].to == "draining");
  // What is no UTF-8 is replaced: it is for people.
  CHECK(read.events[0].cause == "an \"operator\"\n\xef\xbf\xbd");
}

TEST_CASE("a report is read as it was written") {
  Report report;
  report.pools = {{"orders", 5, 2}, {"cache", 0, 0}};
  report.backends = {{"orders", "pg-a", "127.0.0.1:5432", 3}};
  report.snapshot = R"({"sessions":5})";
  report.gifts = 9;
  const Report read = read_report(text(report));
  REQUIRE(read.pools.size() == 2);
  CHECK(read.pools[0].name == "orders");
  CHECK(read.pools[0].active == 5);
  CHECK(read.pools[0].pending == 2);
  REQUIRE(read.backends.size() == 1);
  CHECK(read.backends[0].pool == "orders");
  CHECK(read.backends[0].name == "pg-a");
  CHECK(read.backends[0].address == "127.0.0.1:5432");
  CHECK(read.backends[0].places == 3);
  CHECK(read.snapshot == report.snapshot);
  CHECK(read.gifts == 9);
}

TEST_CASE("texts that are broken or of another kind throw") {
  throws_for_nonsense(text(Welcome{1}), read_welcome);
  throws_for_nonsense(text(Ready{}), read_ready);
  throws_for_nonsense(text(some_state()), read_state);
  Report report;
  report.pools = {{"orders", 1, 0}};
  throws_for_nonsense(text(report), read_report);
}

TEST_CASE("a state with a phase or a kind of event that there is not throws") {
  for (const auto& [part, other] :
       {std::pair("\"phase\":2", "\"phase\":3"), std::pair("\"phase\":2", "\"phase\":-1"),
        std::pair("\"kind\":2", "\"kind\":200")}) {
    std::string broken = text(some_state());
    REQUIRE(broken.find(part) != std::string::npos);
    broken.replace(broken.find(part), std::string(part).size(), other);
    CHECK_THROWS_AS(static_cast<void>(read_state(broken)), std::exception);
  }
}
