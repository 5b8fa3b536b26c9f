#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// What a backend's address may be, and where weir dials from.
namespace weir::e2e {
namespace {

using core::CloseReason;
using core::DialOutcome;

std::string port_of(const std::string& address) { return address.substr(address.rfind(':') + 1); }

TEST_CASE("dial: without a local address the fault is ours, and not the backend's") {
  Service service;
  // 192.0.2.0/24 is for documentation: its first address is nobody's here.
  TestWeir weir(Setup{.pool = "source_address: 192.0.2.1", .backends = {service.address()}}.yaml());
  for (int i = 0; i < 3; ++i) {
    Stream client = weir.connect();
    client.expect_end();
    client.close();
  }
  for (const LogEntry& entry : weir.expect_closed(CloseReason::local_error, 3)) {
    REQUIRE(entry.attempts.size() == 1);
    CHECK(entry.attempts[0].outcome == "local_error");
    CHECK(entry.closed_by == "weir");
  }
  CHECK(weir.snapshot().backend("servers", "b1").dials_that(DialOutcome::local_error) == 3);
  CHECK(service.accepted() == 0);
  weir.settle();
}

TEST_CASE("dial: without a local address towards one backend another one is tried") {
  const Folder folder;
  const std::string path = folder.unix_socket("near");
  Service ipv4;
  Service near(path);
  TestWeir weir(Setup{.pool = "source_address: 192.0.2.1\n    balance: first",
                      .backends = {ipv4.address(), path}}
                    .yaml());
  {
    Stream client = weir.connect();
    ask(client);
  }
  const LogEntry entry = weir.expect_closed(CloseReason::client_closed)[0];
  REQUIRE(entry.attempts.size() == 2);
  CHECK(entry.attempts[0].outcome == "local_error");
  CHECK(entry.backend == "b2");
  weir.settle();
}

TEST_CASE("dial: source_address is where backends see weir come from") {
  Service service;
  TestWeir weir(
      Setup{.workers = 2, .pool = "source_address: 127.0.0.2", .backends = {service.address()}}
          .yaml());
  for (int i = 0; i < 5; ++i) {
    Stream client = weir.connect();
    ask(client);
  }
  weir.expect_closed(CloseReason::client_closed, 5);
  const auto peers = service.peers();
  CHECK(peers.size() == 5);
  for (const net::SocketAddress& peer : peers) CHECK(peer.text().starts_with("127.0.0.2:"));
  weir.settle();
}

TEST_CASE("dial: a backend's unix socket") {
  const Folder folder;
  Service service(folder.unix_socket("backend"));
  TestWeir weir(Setup{.workers = 2,
                      .pool = "source_address: 127.0.0.2",  // says nothing about unix sockets
                      .backends = {service.address()}}
                    .yaml());
  for (int i = 0; i < 5; ++i) {
    Stream client = weir.connect();
    ask(client);
  }
  for (const LogEntry& entry : weir.expect_closed(CloseReason::client_closed, 5)) {
    CHECK(entry.address == folder.unix_socket("backend"));
  }
  weir.settle();
}

TEST_CASE("dial: a backend given by name") {
  Service service;
  const std::string name = "localhost:" + port_of(service.address());
  TestWeir weir(Setup{.workers = 2, .backends = {name}}.yaml());
  for (int i = 0; i < 10; ++i) {
    Stream client = weir.connect();
    ask(client);
  }
  for (const LogEntry& entry : weir.expect_closed(CloseReason::client_closed, 10)) {
    // The log has the address that was dialled; `localhost` may have an IPv6 one before it.
    CHECK(entry.address == service.address());
    CHECK(entry.attempts.back().outcome == "connected");
  }
  CHECK(weir.snapshot().backend("servers", "b1").address == name);
  CHECK(weir.snapshot().backend("servers", "b1").dials_that(DialOutcome::connected) == 10);
  weir.settle();
}

TEST_CASE("dial: a name that does not resolve is the backend's failure, and the next one serves") {
  Service service;
  // RFC 6761: nobody has this name.
  TestWeir weir(Setup{.timeouts = "connect: " + scaled_ms(1000ms),
                      .pool = "balance: first",
                      .backends = {"nobody.invalid:1", service.address()}}
                    .yaml());
  const Stopwatch since_start;
  {
    Stream client = weir.connect();
    ask(client);
  }
  since_start.expect_at_most(scaled(1000ms) + 50ms);
  const LogEntry entry = weir.expect_closed(CloseReason::client_closed)[0];
  REQUIRE(entry.attempts.size() == 2);
  CHECK(entry.attempts[0].outcome == "resolve_failed");
  CHECK(entry.attempts[0].address == "nobody.invalid:1");
  CHECK(entry.attempts[1].outcome == "connected");
  CHECK(weir.snapshot().backend("servers", "b1").dials_that(DialOutcome::resolve_failed) == 1);
}

TEST_CASE("dial: with nothing but a name that does not resolve the client is ended in time") {
  TestWeir weir(
      Setup{.timeouts = "connect: " + scaled_ms(500ms), .backends = {"nobody.invalid:1"}}.yaml());
  const Stopwatch since_start;
  Stream client = weir.connect();
  client.expect_end();
  client.close();
  since_start.expect_at_most(scaled(500ms) + 50ms);
  const LogEntry entry = weir.expect_closed(CloseReason::upstream_connect_failed)[0];
  REQUIRE(entry.attempts.size() == 1);
  CHECK(entry.attempts[0].outcome == "resolve_failed");
}

TEST_CASE("dial: two backends of one host, told apart by their ports, serve in turn") {
  const auto backends = services(2);
  TestWeir weir(Setup{.workers = 2,
                      .backends = {"localhost:" + port_of(backends[0]->address()),
                                   "localhost:" + port_of(backends[1]->address())}}
                    .yaml());
  for (int i = 0; i < 10; ++i) {
    Stream client = weir.connect();
    ask(client);
    client.close();
  }
  weir.expect_closed(CloseReason::client_closed, 10);
  CHECK(backends[0]->accepted() == 5);
  CHECK(backends[1]->accepted() == 5);
  weir.settle();
}

TEST_CASE("dial: an IPv4 address written as IPv6 reaches the IPv4 backend") {
  Service service;
  TestWeir weir(Setup{.backends = {"[::ffff:127.0.0.1]:" + port_of(service.address())}}.yaml());
  {
    Stream client = weir.connect();
    ask(client);
  }
  weir.expect_closed(CloseReason::client_closed);
  CHECK(service.accepted() == 1);
  weir.settle();
}

}  // namespace
}  // namespace weir::e2e
