#include "weir/proxy/session.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/proxy/pattern.h"
#include "tests/proxy/service.h"

using namespace weir;
using namespace weir::net;
using namespace weir::proxy;
using namespace std::chrono_literals;
using core::CloseReason;
using upstream::made_pool;

namespace {

std::string at(const SocketAddress& address) { return address.text(); }

}  // namespace

TEST_CASE("a session relays both ways, and is one line in the access log") {
  Backlog backend;
  Service service(made_pool({at(backend.address())}));
  Peer client = service.client();
  const std::string client_address = SocketAddress::local(client.fd()).text();
  client.send("question");
  CHECK(service.until([&] {
    return service.pool.backend(0).dialing() == 0 && service.gauge == 1 &&
           service.state.totals(0).bytes_in.value() == 8;
  }));
  Peer peer = backend.accept();
  CHECK(peer.receive(8) == "question");
  peer.send("a longer answer");
  peer.shut_write();
  CHECK(service.until([&] { return client.next(false) == "bytes"; }));
  CHECK(client.receive(15) == "a longer answer");
  client.close();
  service.settle();
  CHECK(service.closed_as(CloseReason::backend_closed) == 1);
  const auto lines = service.log_lines();
  REQUIRE(lines.size() == 1);
  const Json& line = lines[0];
  CHECK(line["listener"].text == "orders");
  CHECK(line["pool"].text == "orders");
  CHECK(line["backend"].text == "a");
  CHECK(line["address"].text == at(backend.address()));
  CHECK(line["client"].text == client_address);
  CHECK(line["bytes_in"].count() == 8);
  CHECK(line["bytes_out"].count() == 15);
  CHECK(line["reason"].text == "backend_closed");
  CHECK(line["closed_by"].text == "backend");
  CHECK(line["connect_ms"].number() <= line["duration_ms"].number());
  CHECK(line["first_byte_ms"].number() <= line["duration_ms"].number());
  CHECK(line["attempts"].items.size() == 1);
}

TEST_CASE("HC-04: a client that leaves during the dial without a byte ends it") {
  for (const bool reset : {false, true}) {
    CAPTURE(reset);
    BlackHole hole;
    Service service(made_pool({at(hole.address())}));
    Peer client = service.client();
    CHECK(service.until([&] { return service.pool.backend(0).dialing() == 1; }));
    if (reset) client.reset();
    if (!reset) client.close();
    service.settle();
    CHECK(service.closed_as(reset ? CloseReason::client_reset : CloseReason::client_closed) == 1);
    CHECK(service.pool.backend(0).dials(core::DialOutcome::cancelled) == 1);
    const auto lines = service.log_lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0]["attempts"].items.at(0)["outcome"].text == "cancelled");
    CHECK_FALSE(lines[0].has("connect_ms"));
  }
}

TEST_CASE("HC-04: a client that sent something before its end is still connected") {
  ScratchFolder folder;
  BlackHole full(address_of("unix:" + folder.file("s")));
  Service service(made_pool({at(full.address())}));
  const std::string text = pattern(64'000);
  {
    Peer client = service.client();
    client.send(text);
  }
  CHECK(service.until([&] { return service.pool.backend(0).dialing() == 1; }));
  turn_for(service.loop, 10ms);
  CHECK(service.table.size() == 1);
  full.listening().accept();
  CHECK(service.until([&] { return service.state.totals(0).bytes_in.value() == text.size(); }));
  Peer peer = full.listening().accept();
  CHECK((peer.receive(text.size() + 1) == text));
  CHECK(peer.next() == "end");
  peer.close();
  service.settle();
  CHECK(service.closed_as(CloseReason::client_closed) == 1);
}

TEST_CASE("when no backend can be reached the client sees an end in good order") {
  Refusing backend;
  Service service(made_pool({at(backend.address())}));
  Peer client = service.client();
  client.send("a question that nobody will read");
  CHECK(service.until([&] { return client.next(false) != "nothing"; }));
  CHECK(client.next() == "end");
  client.send("more");
  CHECK(client.next() == "end");
  client.close();
  service.settle();
  CHECK(service.closed_as(CloseReason::upstream_connect_failed) == 1);
}

TEST_CASE("a refused client that stays for its linger holds up nobody else") {
  Refusing backend;
  Service service(made_pool({at(backend.address())}));
  Peer client = service.client();
  CHECK(service.until(
      [&] { return service.pool.backend(0).dials(core::DialOutcome::refused) == 1; }));
  const core::TimePoint start = service.loop.refresh_now();
  turn_for(service.loop, 20ms);
  CHECK(service.loop.refresh_now() - start < 3s);  // and not the five seconds of the linger
  CHECK(client.next() == "end");
  client.close();
  service.settle();
}

TEST_CASE("a client beyond the listener's limit is refused as listener_full, without a dial") {
  Backlog backend;
  Service service(made_pool({at(backend.address())}), 1);
  Peer first = service.client();
  CHECK(service.until([&] { return service.pool.backend(0).active() == 1; }));
  Peer second = service.client();
  CHECK(service.until([&] { return second.next(false) == "end"; }));
  CHECK(service.pool.backend(0).active() == 1);
  CHECK(service.state.connections() == 1);
  second.close();
  first.close();
  backend.accept().close();
  service.settle();
  CHECK(service.closed_as(CloseReason::listener_full) == 1);
}

TEST_CASE("a session that is cut ends in good order, or at once when there is no time") {
  for (const bool at_once : {false, true}) {
    CAPTURE(at_once);
    Backlog backend;
    Service service(made_pool({at(backend.address())}));
    Peer client = service.client();
    client.send("x");
    CHECK(service.until([&] { return service.state.totals(0).bytes_in.value() == 1; }));
    Peer peer = backend.accept();
    CHECK(peer.receive(1) == "x");
    service.table.for_each([=](Session& session) { session.cut(CloseReason::killed, at_once); });
    CHECK(client.next() == (at_once ? "reset" : "end"));
    CHECK(peer.next() == (at_once ? "reset" : "end"));
    service.settle();
    CHECK(service.closed_as(CloseReason::killed) == 1);
  }
}

TEST_CASE("a session that is cut during the dial refuses its client") {
  BlackHole hole;
  Service service(made_pool({at(hole.address())}));
  Peer client = service.client();
  CHECK(service.until([&] { return service.pool.backend(0).dialing() == 1; }));
  service.table.for_each([](Session& session) { session.cut(CloseReason::killed); });
  CHECK(client.next() == "end");
  CHECK(service.pool.backend(0).dialing() == 0);
  client.close();
  service.settle();
  CHECK(service.closed_as(CloseReason::killed) == 1);
}

TEST_CASE("ADM-04: a backend's place is free again only once its socket is closed") {
  Backlog backend;
  upstream::PoolOptions options = made_pool({at(backend.address())});
  options.backends[0].max_active = 1;
  Service service(options);
  Peer first = service.client();
  CHECK(service.until(
      [&] { return service.pool.backend(0).dials(core::DialOutcome::connected) == 1; }));
  Peer second = service.client();
  CHECK(service.until([&] { return second.next(false) == "end"; }));
  CHECK(service.closed_as(CloseReason::backend_at_capacity) == 0);  // it parts until it ends
  second.close();
  CHECK(service.until([&] { return service.closed_as(CloseReason::backend_at_capacity) == 1; }));
  first.close();
  backend.accept().close();
  CHECK(service.until([&] { return service.pool.backend(0).active() == 0; }));
  Peer third = service.client();
  CHECK(service.until([&] { return service.pool.backend(0).active() == 1; }));
  third.reset();
  service.settle();
}

TEST_CASE("an idle session ends as idle_timeout, never early") {
  Backlog backend;
  upstream::PoolOptions options = made_pool({at(backend.address())});
  options.timeouts.idle = 30ms;
  Service service(options);
  Peer client = service.client();
  CHECK(service.until([&] { return service.table.size() == 1; }));
  service.settle();
  CHECK(service.closed_as(CloseReason::idle_timeout) == 1);
  const auto lines = service.log_lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["duration_ms"].number() >= 30);
}

TEST_CASE("a session that lasts ends at its own deadline, not when keepalive is due") {
  Backlog backend;
  upstream::PoolOptions options = made_pool({at(backend.address())});
  options.timeouts.idle = 700ms;
  Service service(options);
  Peer client = service.client();
  const core::TimePoint start = service.loop.refresh_now();
  CHECK(service.until([&] { return service.table.size() == 1; }));
  service.settle();  // setting it must not disturb the deadline of the session
  CHECK(service.closed_as(CloseReason::idle_timeout) == 1);
  CHECK(service.loop.refresh_now() - start >= 700ms);
}
