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
