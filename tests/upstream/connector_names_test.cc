#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "tests/upstream/dial_story.h"
#include "weir/upstream/connector.h"

// Backends given by name: what the resolver answers is dialled within the bound of one dial.

using namespace weir;
using namespace weir::net;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::CloseReason;
using core::DialOutcome;

namespace {

std::string named(std::uint16_t port) { return "db.test:" + std::to_string(port); }

// The same port on two addresses of this machine; both are taken, and refuse.
struct TwoAddresses {
  TwoAddresses() : second(loopback(first.address().port(), "127.0.0.2")) {}
  std::uint16_t port() const { return first.address().port(); }
  Refusing first;
  Refusing second;
};

}  // namespace

TEST_CASE("a backend given by name is looked up, and the log tells the address that was dialled") {
  Backlog a;
  DialStory story(made_pool({named(a.address().port())}));
  story.dns.names["db.test"] = {{"127.0.0.1"}, {}};
  story.run();
  CHECK(story.connection);
  CHECK(story.attempts == Attempts{"a connected"});
  CHECK(story.addresses[0] == a.address().text());
  CHECK(story.dns.questions["db.test"] == 1);
}

TEST_CASE("a name that is known already is dialled without a question") {
  Backlog a;
  DialStory story(made_pool({named(a.address().port())}));
  story.dns.names["db.test"] = {{"127.0.0.1"}, {}};
  bool known = false;
  const auto lookup = story.resolver.lookup(
      "db.test", story.loop, [&](const Addresses& found) { known = found != nullptr; });
  REQUIRE(turn_until(story.loop, [&] { return known; }));
  story.run();
  CHECK(story.connection);
  CHECK(story.dns.questions["db.test"] == 1);
}

TEST_CASE("the addresses of a name are tried in turn, within one dial") {
  TwoAddresses at;
  DialStory story(made_pool({named(at.port())}));
  story.dns.names["db.test"] = {{"127.0.0.1", "127.0.0.2"}, {}};
  story.run();
  CHECK(story.reason == CloseReason::upstream_connect_failed);
  CHECK(story.attempts == Attempts{"a refused", "a refused"});
  CHECK(story.addresses[0] != story.addresses[1]);
  CHECK(story.count(0, DialOutcome::refused) == 1);  // one dial, one verdict
  CHECK(story.at_rest());
}

TEST_CASE("the second address of a name serves when the first one refuses") {
  TwoAddresses at;
  DialStory story(made_pool({named(at.port())}));
  story.dns.names["db.test"] = {{"127.0.0.1", "127.0.0.2"}, {}};
  std::string last;
  const auto lookup = story.resolver.lookup("db.test", story.loop, [&](const Addresses& found) {
    last = found->back().with_port(at.port()).text();
  });
  REQUIRE(turn_until(story.loop, [&] { return !last.empty(); }));
  const bool first_serves = at.first.address().text() == last;
  REQUIRE(::listen((first_serves ? at.first : at.second).fd(), 5) == 0);
  story.run();
  CHECK(story.connection);
  CHECK(story.attempts == Attempts{"a refused", "a connected"});
  CHECK(story.addresses[1] == last);
  CHECK(story.count(0, DialOutcome::refused) == 0);
  CHECK(story.count(0, DialOutcome::connected) == 1);
}

TEST_CASE("when no local port is left towards one address, the next one is tried all the same") {
  PoolOptions options = made_pool({named(5432)});
  options.source_address = core::parse_source_address("192.0.2.1").endpoint;
  DialStory story(options);
  story.dns.names["db.test"] = {{"127.0.0.1", "127.0.0.2"}, {}};
  story.run();
  CHECK(story.reason == CloseReason::local_error);
  CHECK(story.attempts == Attempts{"a local_error", "a local_error"});
}

TEST_CASE("each address has an even share of the connect bound") {
  BlackHole first;
  BlackHole second(loopback(first.address().port(), "127.0.0.2"));
  PoolOptions options = made_pool({named(first.address().port())});
  options.timeouts.connect = 400ms;
  DialStory story(options);
  story.dns.names["db.test"] = {{"127.0.0.1", "127.0.0.2"}, {}};
  story.run();
  CHECK(story.reason == CloseReason::upstream_timeout);
  REQUIRE(story.attempts == Attempts{"a timeout", "a timeout"});
  // The look-up took a little of the bound.
  CHECK(story.took[0] < 400ms);
  CHECK(story.took[0] + story.took[1] >= 300ms);
  CHECK(story.lasted() >= 400ms);
}

TEST_CASE("a name that cannot be resolved is a failed dial, and another backend is tried") {
  Backlog b;
  DialStory story(made_pool({"missing.test:5432", b.address().text()}));
  story.run();
  CHECK(story.attempts == Attempts{"a resolve_failed", "b connected"});
  CHECK(story.addresses[0] == "missing.test:5432");
  CHECK(story.count(0, DialOutcome::resolve_failed) == 1);
}

TEST_CASE("DNS-01: a look-up that takes too long is given up after the connect bound") {
  PoolOptions options = made_pool({"slow.test:5432"});
  options.timeouts.connect = 20ms;
  DialStory story(options);
  story.dns.silent = true;
  story.run();
  CHECK(story.reason == CloseReason::upstream_connect_failed);
  CHECK(story.attempts == Attempts{"a resolve_failed"});
  CHECK(story.lasted() >= 20ms);
}

TEST_CASE("a client that leaves during the look-up gives the place back and hears no more") {
  DialStory story(made_pool({"slow.test:5432"}));
  story.dns.names["slow.test"] = {{"127.0.0.1"}, {}};
  story.start();
  CHECK(story.pool.backend(0).dialing() == 1);
  story.leave();
  CHECK(story.attempts == Attempts{"a cancelled"});
  CHECK(story.count(0, DialOutcome::cancelled) == 1);
  CHECK(story.at_rest());
  turn_for(story.loop, 5ms);
  CHECK_FALSE(story.ended());
}
