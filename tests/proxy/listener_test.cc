#include "weir/proxy/listener.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/proxy/service.h"

using namespace weir;
using namespace weir::net;
using namespace weir::proxy;
using namespace std::chrono_literals;
using core::CloseReason;
using upstream::made_pool;

namespace {

std::uint64_t accepted(Service& service) { return service.state.totals(0).accepted.value(); }

std::uint64_t refused_by_limit(Service& service) {
  return service.state.totals(0)
      .accept_errors[static_cast<std::size_t>(AcceptError::fd_limit)]
      .value();
}

}  // namespace

TEST_CASE("each accepted client is a session with its share of the descriptors") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}));
  std::vector<Peer> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(service.client());
  CHECK(service.until([&] { return service.table.size() == 4; }));
  CHECK(accepted(service) == 4);
  CHECK(service.until([&] { return service.budget.used() == 8; }));
  for (Peer& client : clients) client.reset();
  service.settle();
  CHECK(accepted(service) == 4);
}

TEST_CASE(
    "ACC-01: without descriptors clients wait in the queue, and are served once there are some") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}), 0, 5);  // for two sessions
  std::vector<Peer> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(service.client());
  CHECK(service.until([&] { return refused_by_limit(service) >= 2; }));
  CHECK(service.table.size() == 2);
  CHECK(service.budget.used() == 4);
  CHECK(clients[3].next(false) == "nothing");
  clients[0].reset();
  clients[1].reset();
  CHECK(service.until([&] { return accepted(service) == 4; }));
  CHECK(service.until([&] { return service.table.size() == 2; }));
  clients[2].reset();
  clients[3].reset();
  service.settle();
}

TEST_CASE(
    "draining refuses what waits in the queue as shutdown, in good order, and serves the rest") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}));
  Peer served = service.client();
  served.send("x");
  CHECK(service.until([&] { return service.state.totals(0).bytes_in.value() == 1; }));
  std::vector<Peer> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(service.client());
  for (Peer& client : waiting) client.send("question");
  bool drained = false;
  service.listener->drain([&] { drained = true; });
  CHECK(service.until([&] { return drained; }));
  CHECK(accepted(service) == 11);
  for (Peer& client : waiting) {
    CHECK(client.next() == "end");
    client.close();
  }
  CHECK_FALSE(service.client());
  CHECK(service.until([&] { return service.closed_as(CloseReason::shutdown) == 10; }));
  Peer peer = backend.accept();
  CHECK(peer.receive(1) == "x");
  peer.send("still served");
  CHECK(service.until([&] { return served.next(false) == "bytes"; }));
  CHECK(served.receive(12) == "still served");
  served.reset();
  service.settle();
}

TEST_CASE("draining without descriptors waits for some, and resets nobody meanwhile") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}), 0, 2);  // for one session
  Peer served = service.client();
  CHECK(service.until([&] { return service.table.size() == 1; }));
  std::vector<Peer> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(service.client());
  int drained = 0;
  service.listener->drain([&] { ++drained; });
  turn_for(service.loop, 60ms);
  CHECK(drained == 0);
  for (Peer& client : waiting) CHECK(client.next(false) == "nothing");
  served.reset();
  for (Peer& client : waiting) {
    CHECK(service.until([&] { return client.next(false) == "end"; }));
    client.close();
  }
  CHECK(service.until([&] { return drained == 1; }));
  service.settle();
  CHECK(service.closed_as(CloseReason::shutdown) == 3);
}

TEST_CASE("a unix listener serves, and its file is gone after the drain") {
  ScratchFolder folder;
  Backlog backend;
  Service service(made_pool({backend.address().text()}), 0, 100, "unix:" + folder.file("s"));
  Peer client = service.client();
  client.send("x");
  CHECK(service.until([&] { return service.state.totals(0).bytes_in.value() == 1; }));
  service.listener->drain([] {});
  CHECK_FALSE(std::filesystem::exists(folder.file("s")));
  client.close();
  backend.accept().close();
  service.settle();
  const auto lines = service.log_lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["client"].text == "unix:");
}

namespace {

// A second address of the same listener.
net::SocketAddress listen_too(Service& service, AddressId id) {
  core::Endpoint any_port;
  any_port.host = "127.0.0.1";
  std::string error;
  ListenSocket socket = ListenSocket::open(any_port, {}, error);
  REQUIRE_MESSAGE(socket, error);
  const net::SocketAddress address = socket.address();
  service.listener->listen(id, std::move(socket));
  return address;
}

}  // namespace

TEST_CASE("an address goes to another listener with whoever waits there") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}));
  auto other_state = std::make_shared<ListenerState>(Service::options(0), 1);
  Listener other(service.context, other_state, service.held_pool);
  std::vector<Peer> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(service.client());
  CHECK(service.listener->release(2).empty());
  auto sockets = service.listener->release(1);
  REQUIRE(sockets.size() == 1);
  CHECK(service.listener->release(1).empty());
  CHECK(service.listener->gone());
  other.listen(7, std::move(sockets[0]));
  CHECK(service.until([&] { return service.table.size() == 5; }));
  CHECK(accepted(service) == 0);
  CHECK(other_state->totals(0).accepted.value() == 5);
  waiting.push_back(service.client());
  CHECK(service.until([&] { return service.table.size() == 6; }));
  for (Peer& client : waiting) client.reset();
  service.settle();
}

TEST_CASE("to stop one address serves who waits there, and leaves the others") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}));
  const net::SocketAddress second = listen_too(service, 2);
  std::vector<AddressId> closed;
  service.listener->on_address_closed([&](AddressId id) { closed.push_back(id); });
  std::vector<Peer> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(connect_to(second));
  service.listener->stop(3);  // not one of its
  service.listener->stop(2);
  CHECK(service.until([&] { return !closed.empty(); }));
  CHECK(closed == std::vector<AddressId>{2});
  CHECK(accepted(service) == 5);
  CHECK_FALSE(connect_to(second));
  CHECK(service.table.size() == 5);
  waiting.push_back(service.client());
  CHECK(service.until([&] { return accepted(service) == 6; }));
  for (Peer& client : waiting) client.reset();
  service.settle();
}

TEST_CASE(
    "a listener that retires serves who waits on all its addresses, and tells when it is gone") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}));
  const net::SocketAddress second = listen_too(service, 2);
  std::vector<Peer> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(service.client());
    waiting.push_back(connect_to(second));
  }
  service.listener->stop(2);
  int gone = 0;
  service.listener->retire([&] { ++gone; });
  CHECK(service.until([&] { return gone > 0; }));
  CHECK(gone == 1);
  CHECK(service.listener->gone());
  CHECK(accepted(service) == 10);
  CHECK(service.closed_as(CloseReason::shutdown) == 0);
  for (Peer& client : waiting) {
    client.send("x");
    CHECK(client.next(false) != "reset");
  }
  CHECK_FALSE(service.client());
  for (Peer& client : waiting) client.reset();
  service.settle();
}

TEST_CASE("a listener that has nothing left is gone as soon as it retires") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}));
  static_cast<void>(service.listener->release(1));
  bool gone = false;
  service.listener->retire([&] { gone = true; });
  CHECK(gone);
}

TEST_CASE("clients go to the pool that the listener has when they are accepted") {
  Backlog old_backend;
  Backlog new_backend;
  Service service(made_pool({old_backend.address().text()}));
  Peer first = service.client();
  first.send("x");
  CHECK(service.until([&] { return service.state.totals(0).bytes_in.value() == 1; }));
  const auto next = upstream::Pool::make(made_pool({new_backend.address().text()}), 1);
  service.listener->retune(next, {});
  Peer second = service.client();
  second.send("y");
  CHECK(service.until([&] { return service.state.totals(0).bytes_in.value() == 2; }));
  CHECK(old_backend.accept().receive(1) == "x");
  CHECK(new_backend.accept().receive(1) == "y");
  CHECK(service.pool.admission().active() == 1);
  CHECK(next->admission().active() == 1);
  first.reset();
  second.reset();
  service.settle();
  CHECK(next->admission().active() == 0);
}
