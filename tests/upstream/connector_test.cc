#include "weir/upstream/connector.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/net/scratch_folder.h"
#include "tests/upstream/dial_story.h"
#include "weir/net/descriptor_budget.h"
#include "weir/upstream/lone_dials.h"

using namespace weir;
using namespace weir::net;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::CloseReason;
using core::DialOutcome;

namespace {

std::string at(const Refusing& port) { return port.address().text(); }
std::string at(const BlackHole& hole) { return hole.address().text(); }

}  // namespace

TEST_CASE("a dial that succeeds hands over a watched socket and the backend's place") {
  Backlog a;
  DialStory story(made_pool({at(a)}));
  story.run();
  REQUIRE(story.connection);
  CHECK(story.attempts == Attempts{"a connected"});
  CHECK(story.addresses[0] == at(a));
  CHECK(story.count(0, DialOutcome::connected) == 1);
  CHECK(story.pool.backend(0).active() == 1);
  CHECK(story.pool.backend(0).dialing() == 0);
  CHECK_FALSE(story.timer.armed());
  Peer peer = a.accept();
  peer.send("hello");
  CHECK(turn_until(story.loop, [&] { return story.connection->socket.readable(); }));
  CHECK(story.noted.times > 0);
  story.connection.reset();
  CHECK(story.at_rest());
}

TEST_CASE("while a dial is under way the backend's gauges show it") {
  BlackHole hole;
  DialStory story(made_pool({at(hole)}));
  story.start();
  CHECK(story.pool.backend(0).active() == 1);
  CHECK(story.pool.backend(0).dialing() == 1);
  story.leave();
  CHECK(story.at_rest());
}

TEST_CASE("a refused dial goes on to another backend, and both are recorded in order") {
  Refusing a;
  Refusing b;
  Backlog c;
  DialStory story(made_pool({at(a), at(b), at(c)}));
  story.run();
  CHECK(story.connection);
  CHECK(story.attempts == Attempts{"a refused", "b refused", "c connected"});
  CHECK(story.count(0, DialOutcome::refused) == 1);
  CHECK(story.count(1, DialOutcome::refused) == 1);
  CHECK(story.count(2, DialOutcome::connected) == 1);
  CHECK(story.pool.backend(0).active() == 0);
}

TEST_CASE("when every backend refuses, the session ends as upstream_connect_failed") {
  Refusing a;
  Refusing b;
  DialStory story(made_pool({at(a), at(b)}));
  story.run();
  CHECK(story.reason == CloseReason::upstream_connect_failed);
  CHECK(story.attempts == Attempts{"a refused", "b refused"});
  CHECK(story.at_rest());
  CHECK_FALSE(story.timer.armed());
}

TEST_CASE("TO-03: a backend that does not answer is left after the connect bound, never before") {
  BlackHole a;
  Backlog b;
  PoolOptions options = made_pool({at(a), at(b)});
  options.timeouts.connect = 40ms;
  DialStory story(options);
  story.run();
  CHECK(story.connection);
  CHECK(story.attempts == Attempts{"a timeout", "b connected"});
  CHECK(story.took[0] >= 40ms);
  CHECK(story.lasted() >= 40ms);
}

TEST_CASE("when the last backend does not answer, the session ends as upstream_timeout") {
  BlackHole a;
  PoolOptions options = made_pool({at(a)});
  options.timeouts.connect = 20ms;
  DialStory story(options);
  story.run();
  CHECK(story.reason == CloseReason::upstream_timeout);
  CHECK(story.at_rest());
}

TEST_CASE("with retries off there is one dial, no more") {
  Refusing a;
  Backlog b;
  PoolOptions options = made_pool({at(a), at(b)});
  options.resilience.retry.enabled = false;
  DialStory story(options);
  story.run();
  CHECK(story.reason == CloseReason::upstream_connect_failed);
  CHECK(story.attempts == Attempts{"a refused"});
  CHECK_FALSE(b.somebody_waits());
}

TEST_CASE("retry_attempts bounds the dials after the first") {
  Refusing a;
  Refusing b;
  Backlog c;
  PoolOptions options = made_pool({at(a), at(b), at(c)});
  options.resilience.retry.attempts = 1;
  DialStory story(options);
  story.run();
  CHECK(story.reason == CloseReason::upstream_connect_failed);
  CHECK(story.attempts == Attempts{"a refused", "b refused"});
}

TEST_CASE("with attempts to spare a lone backend is dialled again, but not within 100 ms") {
  Refusing a;
  PoolOptions options = made_pool({at(a)});
  options.resilience.retry.attempts = 2;
  DialStory story(options);
  story.run();
  CHECK(story.reason == CloseReason::upstream_connect_failed);
  CHECK(story.attempts == Attempts{"a refused", "a refused", "a refused"});
  CHECK(story.lasted() >= 200ms);
}

TEST_CASE("retry_deadline bounds the dials together and ends as retry_deadline_exhausted") {
  BlackHole a;
  Backlog b;
  PoolOptions options = made_pool({at(a), at(b)});
  options.resilience.retry.deadline = 40ms;
  options.resilience.circuit.enabled = true;
  DialStory story(options);
  story.run();
  CHECK(story.reason == CloseReason::retry_deadline_exhausted);
  CHECK(story.attempts == Attempts{"a timeout"});
  CHECK(story.lasted() >= 39ms);
  CHECK_FALSE(b.somebody_waits());
  // The client's own time was up, which says nothing about the backend.
  CHECK(story.pool.backend(0).circuit().eligible(story.loop.now()));
}

TEST_CASE("without a back-off the next dial is made at once, with one it waits") {
  ScratchFolder folder;
  const std::string missing = "unix:" + folder.file("missing");
  Backlog b(address_of("unix:" + folder.file("b")));
  const PoolOptions at_once = made_pool({missing, "unix:" + folder.file("b")});
  DialStory quick(at_once);
  quick.start();
  CHECK(quick.ended());  // unix sockets need no second look
  PoolOptions patient = at_once;
  patient.resilience.retry.backoff_initial = 20ms;
  DialStory slow(patient);
  slow.start();
  CHECK_FALSE(slow.ended());
  CHECK(slow.timer.armed());
  CHECK(slow.at_rest());  // nobody's place is taken while it waits
  slow.finish();
  CHECK(slow.attempts == Attempts{"a refused", "b connected"});
}

TEST_CASE("a retry whose turn comes only after the overall deadline is not made") {
  ScratchFolder folder;
  Backlog b(address_of("unix:" + folder.file("b")));
  PoolOptions options = made_pool({"unix:" + folder.file("missing"), "unix:" + folder.file("b")});
  options.resilience.retry.deadline = 60ms;
  options.resilience.retry.backoff_initial = 20ms;
  DialStory story(options);
  story.start();
  REQUIRE(story.timer.armed());
  std::this_thread::sleep_for(70ms);  // the whole process stands still
  story.finish();
  CHECK(story.reason == CloseReason::retry_deadline_exhausted);
  CHECK(story.attempts == Attempts{"a refused"});
  CHECK_FALSE(b.somebody_waits());
  CHECK(story.at_rest());
}

TEST_CASE("a client that leaves during the dial counts as cancelled and leaves no connection") {
  Backlog a;
  DialStory story(made_pool({at(a)}));
  story.start();  // the kernel has connected it, nobody has looked yet
  story.leave();
  CHECK(story.attempts == Attempts{"a cancelled"});
  CHECK(story.count(0, DialOutcome::cancelled) == 1);
  CHECK(story.at_rest());
  CHECK(a.accept().next() == "reset");
  turn_for(story.loop, 2ms);
  CHECK_FALSE(story.ended());
}

TEST_CASE("a client that leaves while it waits for a retry has no dial to cancel") {
  Refusing a;
  PoolOptions options = made_pool({at(a)});
  options.resilience.retry.attempts = 5;
  DialStory story(options);
  story.start();
  CHECK(turn_until(story.loop, [&] { return story.count(0, DialOutcome::refused) == 1; }));
  story.leave();
  CHECK(story.attempts == Attempts{"a refused"});
  CHECK(story.count(0, DialOutcome::cancelled) == 0);
  CHECK(story.at_rest());
}

TEST_CASE("a backend that accepts and resets without a word is a failed dial") {
  Backlog a;
  Backlog b;
  DialStory story(made_pool({at(a), at(b)}));
  story.start();
  a.accept().reset();
  story.finish();
  CHECK(story.attempts == Attempts{"a reset", "b connected"});
}

TEST_CASE("RST-01: a backend that greets and resets is connected and its greeting can be read") {
  Backlog a;
  DialStory story(made_pool({at(a)}));
  story.start();
  {
    Peer peer = a.accept();
    peer.send("banner");
    peer.reset();
  }
  story.finish();
  REQUIRE(story.connection);
  CHECK(read_text(story.connection->socket) == "banner");
}

TEST_CASE("with nobody to dial the session ends at once, and the reason tells which gate it was") {
  PoolOptions options = made_pool(1);
  options.backends[0].weight = 0;
  DialStory unavailable(options);
  unavailable.start();
  CHECK(unavailable.reason == CloseReason::upstream_unavailable);
  CHECK(unavailable.attempts.empty());

  options = made_pool(1);
  options.backends[0].max_active = 1;
  DialStory full(options);
  const BackendLease taken = full.pool.backend(0).claim();
  full.start();
  CHECK(full.reason == CloseReason::backend_at_capacity);
}

TEST_CASE("when no local port is left towards one backend, another one is tried") {
  ScratchFolder folder;
  Backlog a;
  Backlog b(address_of("unix:" + folder.file("b")));  // needs no local port
  PoolOptions options = made_pool({at(a), "unix:" + folder.file("b")});
  options.source_address = core::parse_source_address("192.0.2.1").endpoint;
  DialStory story(options);
  story.run();
  CHECK(story.connection);
  CHECK(story.attempts == Attempts{"a local_error", "b connected"});
  CHECK_FALSE(a.somebody_waits());
}

TEST_CASE("when this process has no descriptor left, no other backend is tried") {
  Backlog a;
  Backlog b;
  DialStory story(made_pool({at(a), at(b)}));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  story.start();
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(story.reason == CloseReason::local_error);
  CHECK(story.attempts == Attempts{"a local_error"});
}

TEST_CASE("a unix backend whose queue is full is asked again until there is room") {
  ScratchFolder folder;
  BlackHole a(address_of("unix:" + folder.file("a")));
  DialStory story(made_pool({at(a)}));
  story.start();
  turn_for(story.loop, 12ms);
  CHECK_FALSE(story.ended());
  CHECK(story.pool.backend(0).dialing() == 1);
  a.listening().accept();
  story.finish();
  CHECK(story.attempts == Attempts{"a connected"});
}

TEST_CASE("a unix backend whose queue stays full times out") {
  ScratchFolder folder;
  BlackHole a(address_of("unix:" + folder.file("a")));
  PoolOptions options = made_pool({at(a)});
  options.timeouts.connect = 17ms;
  DialStory story(options);
  story.run();
  CHECK(story.reason == CloseReason::upstream_timeout);
  CHECK(story.lasted() >= 17ms);
}

TEST_CASE("a thread that was late to look does not condemn backends that connected in time") {
  constexpr int kDials = 1500;  // more than one turn fetches
  REQUIRE(raise_descriptor_limit() > 2 * kDials);
  Backlog a(loopback(), kDials);
  PoolOptions options = made_pool({at(a)});
  options.timeouts.connect = 30ms;
  options.resilience.circuit.enabled = true;
  DialStory first(options);
  struct Client final : Connector::Owner {
    Client(DialStory& in_story) : story(in_story) {}
    void on_connected(Connection made) override {
      connection = std::move(made);
      connection->socket.set_watcher(story.noted);
    }
    void on_dial_failed(CloseReason why) override { reason = why; }
    DialStory& story;
    Timer timer{story.loop, [this] { connector->on_timer(); }};
    std::optional<Connection> connection;
    std::optional<CloseReason> reason;
    std::unique_ptr<Connector> connector;
  };
  std::vector<std::unique_ptr<Client>> clients;
  first.loop.refresh_now();
  for (int i = 0; i < kDials; ++i) {
    Client& client = *clients.emplace_back(std::make_unique<Client>(first));
    client.connector =
        std::make_unique<Connector>(first.context, first.pool, 0, false, client.timer, client);
    client.connector->start();
  }
  std::this_thread::sleep_for(60ms);  // the loop stands still
  CHECK(turn_until(first.loop, [&] {
    return std::all_of(clients.begin(), clients.end(),
                       [](const auto& each) { return each->connection || each->reason; });
  }));
  CHECK(first.count(0, DialOutcome::timeout) == 0);
  CHECK(first.count(0, DialOutcome::connected) == kDials);
}

TEST_CASE("a dial that its client has no time for any more goes on alone, and its verdict counts") {
  BlackHole a;
  PoolOptions options = made_pool({at(a)});
  options.timeouts.connect = 200ms;
  options.resilience.retry.deadline = 20ms;
  options.resilience.circuit = {.max_fails = 1, .fail_timeout = 60s};
  DialStory story(options);
  story.start();
  CHECK(turn_until(story.loop, [&] { return story.ended(); }));
  CHECK(story.reason == CloseReason::retry_deadline_exhausted);
  CHECK(story.attempts == Attempts{"a timeout"});
  LoneDials lone(story.loop);
  auto dial = story.connector->take_lone_dial();
  REQUIRE(dial);
  lone.go_on(std::move(dial), nullptr, {});
  story.connector.reset();
  CHECK(story.pool.backend(0).active() == 0);
  CHECK(story.pool.backend(0).dialing() == 1);
  CHECK(turn_until(story.loop, [&] { return story.pool.backend(0).dialing() == 0; }));
  CHECK(story.count(0, DialOutcome::timeout) == 1);
  CHECK(story.pool.backend(0).circuit().status(story.loop.now()).phase == core::CircuitPhase::open);
  turn_for(story.loop, 1ms);
  CHECK(lone.empty());
}

TEST_CASE("a probe that its client has no time for decides nothing, and gives its slot back") {
  BlackHole a;
  PoolOptions options = made_pool({at(a)});
  options.timeouts.connect = 5s;
  options.resilience.retry.deadline = 20ms;
  options.resilience.circuit = {.max_fails = 1, .fail_timeout = 60s};
  DialStory story(options);
  core::Circuit& circuit = story.pool.backend(0).circuit();
  const core::TimePoint long_ago = story.loop.now() - 61s;
  circuit.admit(long_ago).fail(long_ago);
  story.run();
  CHECK(story.reason == CloseReason::retry_deadline_exhausted);
  CHECK(story.attempts == Attempts{"a timeout"});
  const core::CircuitStatus status = circuit.status(story.loop.now());
  CHECK(status.phase == core::CircuitPhase::half_open);
  CHECK(status.probes_in_flight == 0);
  CHECK(story.at_rest());
}
