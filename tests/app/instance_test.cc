#include "weir/app/instance.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/app/running.h"
#include "tests/net/tiny_json.h"
#include "weir/net/descriptor_budget.h"

using namespace weir;
using namespace weir::app;
using namespace weir::net;
using namespace std::chrono_literals;
using core::CloseReason;

namespace {

std::string start_error(const config::Configuration& made) {
  try {
    const Instance instance(made);
  } catch (const StartError& error) {
    return error.what();
  }
  return "it started";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an instance serves from its start, drains, and ends with exit code 0") {
  Backlog backend;
  Running weir(configuration(backend.address().text()));
  Peer client = weir.client();
  client.send("question");
  Peer peer = backend.accept();
  CHECK(peer.receive(8) == "question");
  peer.send("answer");
  CHECK(client.receive(6) == "answer");
  const admin::Snapshot during = weir.instance.snapshot();
  CHECK(during.sessions == 1);
  CHECK(during.listener("orders").accepted == 1);
  CHECK(during.listener("orders").connections == 1);
  CHECK(during.listener("orders").bytes_in == 8);
  CHECK(during.pool("orders").active == 1);
  CHECK(during.backend("orders", "a").active == 1);
  CHECK_NOTHROW(JsonReader::read(during.json()));
  client.close();
  peer.close();
  CHECK(comes_true([&] { return weir.instance.snapshot().sessions == 0; }));
  const SocketAddress address = weir.address();
  weir.instance.drain();
  CHECK(weir.end() == 0);
  const admin::Snapshot after = weir.instance.snapshot();
  CHECK(after.listener("orders").closed_total() == 1);
  CHECK(after.pool("orders").active == 0);
  CHECK_FALSE(connect_to(address));
}

TEST_CASE("a running session goes on during the drain, and new clients are refused") {
  auto backend = std::make_unique<Backlog>();
  Running weir(configuration(backend->address().text()));
  Peer client = weir.client();
  client.send("x");
  Peer peer = backend->accept();
  CHECK(peer.receive(1) == "x");
  const SocketAddress address = weir.address();
  weir.instance.drain();
  CHECK(comes_true([&] { return !connect_to(address); }));
  // One of those that tried may have been served before the drain began: nobody answers it here.
  backend.reset();
  peer.send("still here");
  CHECK(client.receive(10) == "still here");
  peer.close();
  CHECK(client.next() == "end");
  client.close();
  CHECK(weir.end() == 0);
}

TEST_CASE("REL-02: what still runs at the shutdown deadline is cut off, and the code is 0") {
  Backlog backend;
  config::Configuration made = configuration(backend.address().text());
  made.app.shutdown_deadline = 60ms;
  Running weir(made);
  Peer client = weir.client();
  client.send("x");
  Peer peer = backend.accept();
  CHECK(peer.receive(1) == "x");
  const auto before = std::chrono::steady_clock::now();
  weir.instance.drain();
  CHECK(weir.end() == 0);
  CHECK(std::chrono::steady_clock::now() - before >= 60ms);
  CHECK(client.next() == "reset");
  CHECK(peer.next() == "reset");
  CHECK(weir.instance.snapshot().listener("orders").closed_as(CloseReason::shutdown) == 1);
}

TEST_CASE("a signal drains the instance that handles signals") {
  Backlog backend;
  Instance weir(configuration(backend.address().text()));
  weir.handle_signals();
  ::kill(::getpid(), SIGHUP);  // this one does no harm
  ::kill(::getpid(), SIGTERM);
  CHECK(weir.run() == 0);
}

TEST_CASE("an instance that never runs is gone without a trace") {
  const std::size_t before = open_descriptors();
  {
    Backlog backend;
    const Instance weir(configuration(backend.address().text()));
    Peer client = connect_to(weir.addresses("orders").at(0));
    CHECK(client);
  }
  CHECK(open_descriptors() <= before + 2);  // libuv keeps a pair for signals
}

TEST_CASE("a port that another program has is a StartError that names listener and address") {
  Backlog taken;
  const std::string text = taken.address().text();
  const std::string error = start_error(configuration("127.0.0.1:1", text));
  CHECK(contains(error, "orders"));
  CHECK(contains(error, text));
  CHECK(contains(error, "Address already in use"));
}

TEST_CASE("a second instance on the same port is a StartError, and the first one lives on") {
  Backlog backend;
  Running weir(configuration(backend.address().text()));
  const std::string text = weir.address().text();
  CHECK(contains(start_error(configuration(backend.address().text(), text)), text));
  Peer client = weir.client();
  client.send("x");
  CHECK(backend.accept().receive(1) == "x");
}

TEST_CASE("when one bind fails, nothing of the others is left bound") {
  Backlog taken;
  ScratchFolder folder;
  config::Configuration made = configuration("127.0.0.1:1", "unix:" + folder.file("s"));
  made.listeners[0].bind.push_back(core::parse_endpoint(taken.address().text()).endpoint);
  CHECK(contains(start_error(made), taken.address().text()));
  CHECK_FALSE(std::filesystem::exists(folder.file("s")));
}

TEST_CASE("an access log that cannot be opened is a StartError that names the file") {
  ScratchFolder folder;
  config::Configuration made = configuration("127.0.0.1:1");
  made.app.access_log = folder.file("none/access.log");
  CHECK(contains(start_error(made), folder.file("none/access.log")));
}

TEST_CASE("the access log has every session once the drain has ended") {
  ScratchFolder folder;
  Backlog backend;
  config::Configuration made = configuration(backend.address().text());
  made.app.access_log = folder.file("access.log");
  Running weir(made);
  for (int i = 0; i < 5; ++i) {
    Peer client = weir.client();
    client.send("x");
    Peer peer = backend.accept();
    CHECK(peer.receive(1) == "x");
  }
  CHECK(
      comes_true([&] { return weir.instance.snapshot().listener("orders").closed_total() == 5; }));
  weir.instance.drain();
  CHECK(weir.end() == 0);
  const std::string text = text_of(folder.file("access.log"));
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < text.size(); ++lines) {
    const std::size_t end = text.find('\n', begin);
    REQUIRE(end != std::string::npos);
    CHECK(JsonReader::read(text.substr(begin, end - begin))["listener"].text == "orders");
    begin = end + 1;
  }
  CHECK(lines == 5);
}

TEST_CASE("a unix listener serves all workers' clients, and its path is removed at the end") {
  ScratchFolder folder;
  Backlog backend;
  Running weir(configuration(backend.address().text(), "unix:" + folder.file("s")));
  std::vector<Peer> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(weir.client());
    clients.back().send("x");
    CHECK(backend.accept().receive(1) == "x");
  }
  clients.clear();
  weir.instance.drain();
  CHECK(weir.end() == 0);
  CHECK_FALSE(std::filesystem::exists(folder.file("s")));
}

TEST_CASE("all workers share a TCP port, and every address of a listener is told") {
  Backlog backend;
  config::Configuration made = configuration(backend.address().text());
  made.app.workers = 3;
  made.listeners[0].bind.push_back(made.listeners[0].bind[0]);
  Running weir(made);
  const auto addresses = weir.instance.addresses("orders");
  REQUIRE(addresses.size() == 2);
  CHECK(addresses[0].port() != addresses[1].port());
  for (const SocketAddress& address : addresses) {
    for (int i = 0; i < 12; ++i) {
      Peer client = connect_to(address);
      client.send("x");
      CHECK(backend.accept().receive(1) == "x");
    }
  }
  CHECK(weir.instance.addresses("other").empty());
  CHECK(weir.instance.snapshot().listener("orders").accepted == 24);
}
