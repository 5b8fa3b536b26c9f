#include "weir/app/demo.h"

#include <doctest/doctest.h>

#include <poll.h>

#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/net/peer.h"

using namespace weir;
using namespace weir::app;
using namespace weir::net;

namespace {

std::string line_from(Peer& peer) {
  std::string line;
  while (!line.ends_with('\n')) {
    const std::string next = peer.receive(1);
    if (next.empty()) break;
    line += next;
  }
  return line;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Carried out when this returns.
void order(const Demo& demo, const std::string& words) {
  Peer orders = connect_to(address_of(demo.orders()));
  REQUIRE(orders);
  orders.send(words + "\n");
  CHECK(line_from(orders) == "backend " + words.substr(0, 1) + ": " + words.substr(2) + "\n");
}

Peer accept_from(const ListenSocket& socket) {
  pollfd asked{socket.fd(), POLLIN, 0};
  REQUIRE(::poll(&asked, 1, 20'000) == 1);
  Descriptor accepted(::accept4(socket.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  REQUIRE(accepted);
  return Peer(std::move(accepted));
}

}  // namespace

TEST_CASE("each demo backend greets with its name and answers every line with the same line") {
  const Demo demo({"a", "b", "c"}, Demo::Traffic::none);
  REQUIRE(demo.backends().size() == 3);
  for (const auto& [name, address] : demo.backends()) {
    Peer client = connect_to(address_of(address));
    REQUIRE(client);
    CHECK(line_from(client) == "backend " + name + " at your service; type a line\n");
    client.send("hello\n");
    CHECK(line_from(client) == "hello\n");
    client.send("again\n");
    CHECK(line_from(client) == "again\n");
    client.shut_write();
    CHECK(client.next() == "end");
  }
}

TEST_CASE("a demo backend serves many clients, also after some were reset") {
  const Demo demo({"only"}, Demo::Traffic::none);
  const SocketAddress address = address_of(demo.backends()[0].second);
  std::vector<Peer> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(connect_to(address));
    CHECK(line_from(clients.back()).starts_with("backend only"));
    if (i % 2 == 0) clients.back().reset();
  }
}

TEST_CASE("the demo's configuration spreads over its backends, and finds them out in seconds") {
  const Demo demo({"a", "b"}, Demo::Traffic::none);
  const config::Configuration& made = demo.configuration();
  REQUIRE(made.listeners.size() == 1);
  REQUIRE(made.pools.size() == 1);
  const upstream::PoolOptions& pool = made.pools[0];
  CHECK(made.listeners[0].pool == pool.name);
  CHECK(pool.balance == core::Balance::round_robin);
  REQUIRE(pool.backends.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(pool.backends[i].name == demo.backends()[i].first);
    CHECK(pool.backends[i].address.text() == demo.backends()[i].second);
  }
  CHECK(made.app.access_log == "stdout");
  CHECK(made.app.http_listen.has_value());
}

TEST_CASE("the demo tells people to type what goes to where it listens") {
  const Demo demo({"a", "b"}, Demo::Traffic::none);
  const std::string greeting = demo.greeting();
  const config::Configuration& made = demo.configuration();
  CAPTURE(greeting);
  CHECK(says(greeting, "behind " + made.listeners[0].bind[0].text()));
  CHECK(says(greeting, "http://" + made.app.http_listen->text() + "/\n"));
  CHECK(says(greeting, "socket " + made.app.admin_socket + "\n"));
  const std::string port = demo.orders().substr(demo.orders().find(':') + 1);
  CHECK(says(greeting, "echo \"a refuse\" > /dev/tcp/127.0.0.1/" + port + "\n"));
  CHECK(says(greeting, "a backend (a b) and a word"));
  // What weirctl would not find by itself.
  CHECK(says(greeting, "export WEIR_SOCKET=" + made.app.admin_socket + "\n") ==
        (made.app.admin_socket != "/run/weir/admin.sock"));
}

TEST_CASE("demos run beside each other, each in places of its own") {
  const Demo first({"a"}, Demo::Traffic::none);
  const Demo second({"a"}, Demo::Traffic::none);
  const Demo third({"a"}, Demo::Traffic::none);
  std::set<std::string> places;
  for (const Demo* demo : {&first, &second, &third}) {
    const config::Configuration& made = demo->configuration();
    places.insert(made.listeners[0].bind[0].text());
    places.insert(made.app.http_listen->text());
    places.insert(demo->orders());
    places.insert(demo->backends()[0].second);
    places.insert(made.app.admin_socket);
  }
  CHECK(places.size() == 3 * 5);
  CHECK(places.count("") == 0);
}

TEST_CASE("the demo's sockets are those of its configuration, open already") {
  Demo demo({"a"}, Demo::Traffic::none);
  std::set<std::string> open;
  for (const ListenSocket& socket : demo.take_sockets()) open.insert(socket.address().text());
  const config::Configuration& made = demo.configuration();
  std::set<std::string> wanted{made.listeners[0].bind[0].text(), made.app.http_listen->text()};
  if (!made.app.admin_socket.empty()) wanted.insert("unix:" + made.app.admin_socket);
  CHECK(open == wanted);
}

TEST_CASE("an ill-typed order to the demo changes nothing, and is told what there is") {
  const Demo demo({"a", "b"}, Demo::Traffic::none);
  const std::string help =
      "an order is BACKEND WORD; backends are a b, words are fine slow hang refuse\n";
  Peer orders = connect_to(address_of(demo.orders()));
  for (const char* line :
       {"", "a", "a ", "a  refuse", "c refuse", "a Refuse", "refuse a", "a no"}) {
    CAPTURE(line);
    orders.send(std::string(line) + "\n");
    CHECK(line_from(orders) == help);
  }
  Peer client = connect_to(address_of(demo.backends()[0].second));
  CHECK(line_from(client).starts_with("backend a"));
}

TEST_CASE("a line without an end is no reason to remember it") {
  const Demo demo({"a"}, Demo::Traffic::none);
  Peer orders = connect_to(address_of(demo.orders()));
  orders.send(std::string(10'000, 'a'));
  const std::string next = orders.next();
  CHECK((next == "end" || next == "reset"));
}

TEST_CASE("a demo backend refuses by order, keeps whom it has, and is back by order") {
  const Demo demo({"a", "b"}, Demo::Traffic::none);
  const SocketAddress address = address_of(demo.backends()[0].second);
  Peer early = connect_to(address);
  CHECK(line_from(early).starts_with("backend a"));
  order(demo, "a refuse");
  CHECK(!connect_to(address));
  CHECK(connect_to(address_of(demo.backends()[1].second)));
  early.send("still here\n");
  CHECK(line_from(early) == "still here\n");
  order(demo, "a fine");
  Peer late = connect_to(address);
  CHECK(line_from(late).starts_with("backend a"));
}

TEST_CASE("a demo backend that refuses keeps its port, so that another demo cannot come there") {
  const Demo demo({"a"}, Demo::Traffic::none);
  const std::string address = demo.backends()[0].second;
  for (int round = 0; round < 3; ++round) {
    order(demo, "a refuse");
    order(demo, "a refuse");
    std::string error;
    CHECK(!ListenSocket::open(core::parse_endpoint(address).endpoint, {}, error));
    order(demo, "a fine");
    Peer client = connect_to(address_of(address));
    CHECK(line_from(client).starts_with("backend a"));
  }
}

TEST_CASE("a demo backend hangs by order: it accepts and says nothing until it is mended") {
  const Demo demo({"a"}, Demo::Traffic::none);
  order(demo, "a hang");
  Peer client = connect_to(address_of(demo.backends()[0].second));
  REQUIRE(client);
  client.send("hello\n");
  order(demo, "a hang");  // by its answer the backend has had its turn
  CHECK(client.next(false) == "nothing");
  order(demo, "a fine");
  CHECK(line_from(client).starts_with("backend a"));
  CHECK(line_from(client) == "hello\n");
}

TEST_CASE("a demo backend is slow by order: it answers after half a second") {
  const Demo demo({"a"}, Demo::Traffic::none);
  order(demo, "a slow");
  const auto began = std::chrono::steady_clock::now();
  Peer client = connect_to(address_of(demo.backends()[0].second));
  CHECK(line_from(client).starts_with("backend a"));
  CHECK(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(500));
}

TEST_CASE("the demo's traffic says a line, and leaves in good order once it is answered") {
  Demo demo({"a"}, Demo::Traffic::some);
  const std::vector<ListenSocket> sockets = demo.take_sockets();
  for (int i = 0; i < 3; ++i) {
    Peer client = accept_from(sockets[0]);
    CHECK(client.receive(6) == "hello\n");
    client.send("welcome\n");
    CHECK(client.next() == "end");
  }
}
