#include "weir/app/demo.h"

#include <doctest/doctest.h>

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

}  // namespace

TEST_CASE("each demo backend greets with its name and answers every line with the same line") {
  const DemoBackends demo({"a", "b", "c"});
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
  const DemoBackends demo({"only"});
  const SocketAddress address = address_of(demo.backends()[0].second);
  std::vector<Peer> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(connect_to(address));
    CHECK(line_from(clients.back()).starts_with("backend only"));
    if (i % 2 == 0) clients.back().reset();
  }
}

TEST_CASE("the demo's configuration spreads over its backends and logs to stdout") {
  const DemoBackends demo({"a", "b"});
  const config::Configuration made = demo_configuration(demo);
  REQUIRE(made.listeners.size() == 1);
  REQUIRE(made.pools.size() == 1);
  CHECK(made.listeners[0].pool == made.pools[0].name);
  CHECK(made.pools[0].balance == core::Balance::round_robin);
  REQUIRE(made.pools[0].backends.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(made.pools[0].backends[i].name == demo.backends()[i].first);
    CHECK(made.pools[0].backends[i].address.text() == demo.backends()[i].second);
  }
  CHECK(made.app.access_log == "stdout");
  // What it tells people to type goes to where it listens.
  CHECK(demo_greeting().find(made.listeners[0].bind[0].text()) != std::string::npos);
}
