#include "weir/proxy/first_byte.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "tests/proxy/service.h"

using namespace weir;
using namespace weir::net;
using namespace weir::proxy;
using namespace std::chrono_literals;
using core::CloseReason;
using core::DialOutcome;

namespace {

upstream::PoolOptions first_byte(const SocketAddress& backend, core::Duration timeout) {
  upstream::PoolOptions pool = upstream::made_pool({backend.text()});
  pool.resilience.circuit.enabled = true;
  pool.resilience.circuit.max_fails = 2;
  pool.resilience.circuit_success = upstream::CircuitSuccess::first_byte;
  pool.resilience.first_byte_timeout = timeout;
  return pool;
}

std::uint32_t fails(Service& service) {
  return service.pool.backend(0).circuit().status(service.loop.now()).fails;
}

// A client that has sent one byte, which the backend has been given.
Peer ask(Service& service) {
  Peer client = service.client();
  client.send("q");
  CHECK(service.until([&] { return service.state.totals(0).bytes_in.value() == 1; }));
  return client;
}

}  // namespace

TEST_CASE("an answer that this thread was late to look at has come in time") {
  Backlog backend;
  Service service(first_byte(backend.address(), 20ms));
  Peer client = ask(service);
  Peer peer = backend.accept();
  peer.send("a");
  std::this_thread::sleep_for(30ms);  // the loop stands still
  CHECK(service.until([&] { return service.state.totals(0).bytes_out.value() == 1; }));
  CHECK(fails(service) == 0);
  CHECK(service.closed_as(CloseReason::first_byte_timeout) == 0);
  client.close();
  peer.close();
  service.settle();
  CHECK(service.pool.backend(0).dials(DialOutcome::connected) == 1);
}

TEST_CASE("a reset that this thread was late to look at is an early close, and still a reset") {
  Backlog backend;
  Service service(first_byte(backend.address(), 20ms));
  Peer client = ask(service);
  backend.accept().reset();
  std::this_thread::sleep_for(30ms);  // the loop stands still
  CHECK(service.until([&] { return service.closed_as(CloseReason::backend_reset) == 1; }));
  CHECK(fails(service) == 1);
  CHECK(service.pool.backend(0).dials(DialOutcome::closed_early) == 1);
  CHECK(client.next() == "reset");
  service.settle();
}

TEST_CASE("a client that speaks while its backend has gone already is a client that was let down") {
  Backlog backend;
  Service service(first_byte(backend.address(), 5s));
  Peer client = service.client();
  CHECK(service.until([&] {
    return service.gauge == 1 && service.pool.backend(0).active() == 1 &&
           service.pool.backend(0).dialing() == 0;
  }));
  backend.accept().shut_write();
  CHECK(service.until([&] { return client.next(false) == "end"; }));
  CHECK(fails(service) == 0);
  client.send("q");
  CHECK(service.until([&] { return fails(service) == 1; }));
  client.close();
  service.settle();
  CHECK(service.pool.backend(0).dials(DialOutcome::closed_early) == 1);
}

TEST_CASE("an answer that a leaving client cannot take is an answer, and the backend's success") {
  for (const bool closes : {false, true}) {
    CAPTURE(closes);
    Backlog backend;
    Service service(first_byte(backend.address(), 5s));
    Peer client = ask(service);
    Peer peer = backend.accept();
    // Both are in the kernel before this thread looks, in either order.
    if (closes) client.reset();
    peer.send("a");
    if (closes) peer.close();
    if (!closes) client.reset();
    CHECK(service.until([&] { return service.gauge == 0; }));
    CHECK(service.until([&] { return service.pool.backend(0).dialing() == 0; }));
    CHECK(fails(service) == 0);
    CHECK(service.pool.backend(0).dials(DialOutcome::closed_early) == 0);
    service.settle();
  }
}

TEST_CASE("a backend that drops a request because its client has closed has not failed") {
  Backlog backend;
  Service service(first_byte(backend.address(), 5s));
  Peer client = ask(service);
  Peer peer = backend.accept();
  client.close();
  CHECK(service.until([&] { return peer.next(false) == "bytes"; }));
  CHECK(peer.receive(1) == "q");
  CHECK(service.until([&] { return peer.next(false) == "end"; }));
  peer.close();
  service.settle();
  CHECK(fails(service) == 0);
  CHECK(service.closed_as(CloseReason::client_closed) == 1);
  CHECK(service.pool.backend(0).dials(DialOutcome::connected) == 1);
}

TEST_CASE("a backend that resets a client which has only half-closed has failed") {
  Backlog backend;
  Service service(first_byte(backend.address(), 5s));
  Peer client = service.client();
  client.send("q");
  client.shut_write();
  CHECK(service.until([&] { return service.state.totals(0).bytes_in.value() == 1; }));
  backend.accept().reset();
  CHECK(service.until([&] { return service.gauge == 0; }));
  CHECK(fails(service) == 1);
  service.settle();
}
