#include "weir/net/resolver.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/net/dns_server.h"
#include "tests/net/turning.h"

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> texts(const Addresses& addresses) {
  std::vector<std::string> found;
  if (addresses) {
    for (const SocketAddress& each : *addresses) found.push_back(each.text());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A resolver on a control loop, and the only name server that it knows.
struct Names {
  explicit Names(core::Duration floor = 1s, core::Duration timeout = 5s)
      : resolver(
            loop,
            {.servers = server.address(), .timeout = timeout, .tries = 1, .ttl_floor = floor}) {}

  // One question and its answer.
  Addresses ask(const std::string& name) {
    bool answered = false;
    Addresses result;
    const auto lookup = resolver.lookup(name, loop, [&](const Addresses& addresses) {
      answered = true;
      result = addresses;
    });
    CHECK(turn_until(loop, [&] { return answered; }));
    return result;
  }
  bool known(const std::string& name, core::Duration from_now) {
    return resolver.cached(name, loop.now() + from_now) != nullptr;
  }

  Loop loop;
  DnsServer server{loop};
  Resolver resolver;
};

using Hosts = std::vector<std::string>;

}  // namespace

TEST_CASE("a name is answered with its addresses of both families, and ports of 0") {
  Names dns;
  dns.server.names["db.test"] = {{"10.0.0.1", "10.0.0.2"}, {"2001:db8::1"}};
  CHECK(texts(dns.ask("db.test")) == Hosts{"10.0.0.1:0", "10.0.0.2:0", "[2001:db8::1]:0"});
  dns.server.names["four.test"] = {{"10.0.0.3"}, {}};
  CHECK(texts(dns.ask("four.test")) == Hosts{"10.0.0.3:0"});
}

TEST_CASE("an answer is kept for its TTL and no longer") {
  Names dns;
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}, 30};
  CHECK_FALSE(dns.known("db.test", 0s));
  dns.ask("db.test");
  CHECK(dns.known("db.test", 29s));
  CHECK_FALSE(dns.known("db.test", 30s));
  CHECK(texts(dns.resolver.cached("db.test", dns.loop.now())) == Hosts{"10.0.0.1:0"});
  CHECK_FALSE(dns.known("other.test", 0s));
}

TEST_CASE("a TTL below the floor counts as the floor") {
  Names dns(5s);
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}, 0};
  dns.ask("db.test");
  CHECK(dns.known("db.test", 4s));
  CHECK_FALSE(dns.known("db.test", 5s));
}

TEST_CASE("a name that is known is not asked for again") {
  Names dns;
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}, 30};
  dns.ask("db.test");
  CHECK(texts(dns.ask("db.test")) == Hosts{"10.0.0.1:0"});
  CHECK(dns.server.questions["db.test"] == 1);
}

TEST_CASE("a name whose time has passed is asked for again, and the new answer counts") {
  Names dns(1ms);
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}, 0};
  dns.ask("db.test");
  dns.server.names["db.test"] = {{"10.0.0.2"}, {}, 0};
  turn_for(dns.loop, 3ms);
  CHECK(texts(dns.ask("db.test")) == Hosts{"10.0.0.2:0"});
  CHECK(dns.server.questions["db.test"] == 2);
}

TEST_CASE("equal questions at the same time are asked once and all answered") {
  Names dns;
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}};
  dns.server.names["other.test"] = {{"10.0.0.2"}, {}};
  int answered = 0;
  std::vector<std::unique_ptr<Resolver::Lookup>> lookups;
  for (int i = 0; i < 20; ++i) {
    lookups.push_back(dns.resolver.lookup("db.test", dns.loop, [&](const Addresses& addresses) {
      CHECK(texts(addresses) == Hosts{"10.0.0.1:0"});
      ++answered;
    }));
  }
  lookups.push_back(
      dns.resolver.lookup("other.test", dns.loop, [&](const Addresses&) { ++answered; }));
  CHECK(turn_until(dns.loop, [&] { return answered == 21; }));
  CHECK(dns.server.questions["db.test"] == 1);
  CHECK(dns.server.questions["other.test"] == 1);
}

TEST_CASE(
    "a name that does not exist is answered with nothing, and asked for again after a while") {
  Names dns(40ms);
  CHECK(dns.ask("missing.test") == nullptr);
  const int asked = dns.server.questions["missing.test"];
  CHECK_FALSE(dns.known("missing.test", 0s));
  CHECK(dns.ask("missing.test") == nullptr);
  CHECK(dns.server.questions["missing.test"] == asked);
  dns.server.names["missing.test"] = {{"10.0.0.1"}, {}};
  turn_for(dns.loop, 45ms);
  CHECK(texts(dns.ask("missing.test")) == Hosts{"10.0.0.1:0"});
}

TEST_CASE("the answer to an alias is kept no longer than the alias") {
  Names dns;
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}, 3600, 0, 5};
  CHECK(texts(dns.ask("db.test")) == Hosts{"10.0.0.1:0"});
  CHECK(dns.known("db.test", 4s));
  CHECK_FALSE(dns.known("db.test", 5s));
}

TEST_CASE("DNS-01: while the name server is silent a known name keeps its last good addresses") {
  Names dns(1ms);
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}, 0};
  dns.ask("db.test");
  dns.server.silent = true;
  turn_for(dns.loop, 3ms);
  const core::TimePoint asked = dns.loop.refresh_now();
  CHECK(texts(dns.ask("db.test")) == Hosts{"10.0.0.1:0"});
  // The name server's own bound is five seconds.
  CHECK(dns.loop.refresh_now() - asked >= 250ms);
  CHECK(dns.loop.refresh_now() - asked < 4s);
  // Who asks while that question is still open does not wait again.
  const core::TimePoint again = dns.loop.refresh_now();
  CHECK(texts(dns.ask("db.test")) == Hosts{"10.0.0.1:0"});
  CHECK(dns.loop.refresh_now() - again < 200ms);
}

TEST_CASE("a question that fails is answered with the last good addresses, for the floor's time") {
  for (const int code : {2, 3}) {
    CAPTURE(code);
    Names dns(20ms);
    dns.server.names["db.test"] = {{"10.0.0.1"}, {}, 0};
    dns.ask("db.test");
    dns.server.names["db.test"] = {{}, {}, 0, code};
    turn_for(dns.loop, 25ms);
    REQUIRE_FALSE(dns.known("db.test", 0s));
    CHECK(texts(dns.ask("db.test")) == Hosts{"10.0.0.1:0"});
    CHECK(dns.server.questions["db.test"] >= 2);
    CHECK_FALSE(dns.known("db.test", 20ms));
    dns.server.names["db.test"] = {{"10.0.0.9"}, {}, 0};
    turn_for(dns.loop, 25ms);
    CHECK(texts(dns.ask("db.test")) == Hosts{"10.0.0.9:0"});
  }
}

TEST_CASE("DNS-01: a silent name server is given up after the timeout") {
  Names dns(1s, 30ms);
  dns.server.silent = true;
  const core::TimePoint asked = dns.loop.refresh_now();
  CHECK(dns.ask("db.test") == nullptr);
  CHECK(dns.loop.refresh_now() - asked >= 30ms);
}

TEST_CASE("a look-up that was dropped gets no answer, and the others do") {
  Names dns;
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}};
  bool dropped_answered = false;
  auto dropped =
      dns.resolver.lookup("db.test", dns.loop, [&](const Addresses&) { dropped_answered = true; });
  dropped.reset();
  CHECK(dns.ask("db.test") != nullptr);
  turn_for(dns.loop, 3ms);
  CHECK_FALSE(dropped_answered);
}

TEST_CASE("an answer may drop its own look-up") {
  Names dns;
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}};
  std::unique_ptr<Resolver::Lookup> lookup;
  lookup = dns.resolver.lookup("db.test", dns.loop, [&](const Addresses& addresses) {
    lookup.reset();
    CHECK(texts(addresses) == Hosts{"10.0.0.1:0"});
  });
  CHECK(turn_until(dns.loop, [&] { return !lookup; }));
}

TEST_CASE("a look-up is answered on the loop that asked") {
  Names dns;
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}};
  Loop asker;
  std::thread::id answered_on;
  std::unique_ptr<Resolver::Lookup> lookup;
  std::thread thread([&] {
    lookup = dns.resolver.lookup("db.test", asker, [&](const Addresses& addresses) {
      CHECK(texts(addresses) == Hosts{"10.0.0.1:0"});
      answered_on = std::this_thread::get_id();
      asker.stop();
    });
    asker.run();
    CHECK(answered_on == std::this_thread::get_id());
    lookup.reset();
  });
  CHECK(turn_until(dns.loop, [&] { return dns.known("db.test", 0s); }));
  thread.join();
}

TEST_CASE("an answer is noticed when it comes, on a loop that has nothing else to do") {
  Names dns(1s, 10s);
  dns.server.names["db.test"] = {{"10.0.0.1"}, {}};
  const core::TimePoint start = dns.loop.refresh_now();
  std::unique_ptr<Resolver::Lookup> lookup;
  lookup = dns.resolver.lookup("db.test", dns.loop, [&](const Addresses& addresses) {
    CHECK(addresses != nullptr);
    dns.loop.stop();
  });
  dns.loop.run();
  CHECK(dns.loop.refresh_now() - start < 10s);
}

TEST_CASE("questions under way when the resolver goes are answered with nothing") {
  Loop loop;
  DnsServer server(loop);
  server.silent = true;
  auto resolver = std::make_unique<Resolver>(loop, ResolverOptions{.servers = server.address()});
  int answered = 0;
  const auto answer = [&](const Addresses& addresses) {
    CHECK(addresses == nullptr);
    ++answered;
  };
  const auto under_way = resolver->lookup("db.test", loop, answer);
  CHECK(turn_until(loop, [&] { return server.questions["db.test"] > 0; }));
  const auto not_yet_asked = resolver->lookup("later.test", loop, answer);
  resolver.reset();
  CHECK(turn_until(loop, [&] { return answered == 2; }));
}
