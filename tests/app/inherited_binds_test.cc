// Addresses whose sockets another process has handed over.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/net/peer.h"
#include "tests/net/scratch_folder.h"
#include "weir/app/binds.h"

using namespace weir;
using namespace weir::app;

namespace {

// Port 0, the kernel's choice, is not for configuration files.
core::Endpoint endpoint(const std::string& text) {
  constexpr std::string_view kAnyPort = ":0";
  if (!text.ends_with(kAnyPort)) return core::parse_endpoint(text).endpoint;
  core::Endpoint any = core::parse_endpoint(text.substr(0, text.size() - 1) + "1").endpoint;
  any.port = 0;
  return any;
}

// The other process: it listens, and its sockets are shared with the test.
struct Before {
  net::ListenSocket& listen(const std::string& at, const net::ListenOptions& options = {}) {
    std::string error;
    sockets.push_back(net::ListenSocket::open(endpoint(at), options, error));
    REQUIRE_MESSAGE(sockets.back(), error);
    return sockets.back();
  }
  // So many workers' sockets on one port of the kernel's choice; answers the address.
  std::string listen_on_port(std::size_t workers) {
    const std::string at = listen("127.0.0.1:0").address().text();
    for (std::size_t i = 1; i < workers; ++i) listen(at, {.port = net::Port::join});
    return at;
  }

  void hand_over() {
    for (const net::ListenSocket& each : sockets) {
      net::ListenSocket socket = net::ListenSocket::adopt(net::Descriptor(::dup(each.fd())));
      REQUIRE(socket);
      inherited.push_back({inherited.size(), std::move(socket)});
    }
  }

  std::vector<net::ListenSocket> sockets;
  std::vector<Rebinding::Inherited> inherited;
};

proxy::ListenerOptions listener(const std::vector<std::string>& binds) {
  proxy::ListenerOptions options;
  options.name = "front";
  for (const std::string& each : binds) options.bind.push_back(endpoint(each));
  return options;
}

// The new process, which begins with nothing bound.
struct After {
  After(Before& before, const std::vector<std::string>& binds, std::size_t workers) {
    before.hand_over();
    failure = rebinding.open({}, {listener(binds)}, workers, last_id, before.inherited);
  }

  const Rebinding::Listener::Opened& opened(std::size_t place = 0) {
    return rebinding.listeners()[0].opened[place];
  }
  std::vector<std::size_t> counts(std::size_t place = 0) {
    std::vector<std::size_t> counts;
    for (const auto& worker : opened(place).sockets) counts.push_back(worker.size());
    return counts;
  }
  // Accepts whoever waits at any of its sockets.
  std::size_t accept_all() {
    std::size_t accepted = 0;
    for (const auto& worker : opened().sockets) {
      for (const net::ListenSocket& socket : worker) {
        while (net::Descriptor(::accept4(socket.fd(), nullptr, nullptr, SOCK_CLOEXEC))) ++accepted;
      }
    }
    return accepted;
  }

  Rebinding rebinding;
  proxy::AddressId last_id = 0;
  std::optional<BindFailure> failure;
};

}  // namespace

TEST_CASE("as many workers as sockets have one each") {
  Before before;
  const std::string at = before.listen_on_port(3);
  After after(before, {at}, 3);
  REQUIRE_FALSE(after.failure);
  CHECK(after.counts() == std::vector<std::size_t>{1, 1, 1});
  CHECK(before.inherited.empty());
  CHECK(after.opened().text == at);
}

TEST_CASE("fewer workers than sockets have them all, and with them whoever waits") {
  Before before;
  const std::string at = before.listen_on_port(4);
  std::vector<net::Peer> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(net::connect_to(net::address_of(at)));
  After after(before, {at}, 3);
  REQUIRE_FALSE(after.failure);
  CHECK(after.counts() == std::vector<std::size_t>{2, 1, 1});
  CHECK(before.inherited.empty());
  CHECK(after.accept_all() == 40);
}

TEST_CASE("more workers than sockets join the port with sockets of their own") {
  Before before;
  const std::string at = before.listen_on_port(1);
  After after(before, {at}, 4);
  REQUIRE_FALSE(after.failure);
  CHECK(after.counts() == std::vector<std::size_t>{1, 1, 1, 1});
  std::vector<net::Peer> clients;
  before.sockets.clear();
  for (int i = 0; i < 40; ++i) clients.push_back(net::connect_to(net::address_of(at)));
  CHECK(after.accept_all() == 40);
}

// As a service manager makes it, without a word of others that are to join.
TEST_CASE("a port that nobody may join is shared by all workers") {
  Before before;
  const net::Backlog plain;
  net::Peer early = net::connect_to(plain.address());
  before.inherited.push_back({0, net::ListenSocket::adopt(net::Descriptor(::dup(plain.fd())))});
  After after(before, {plain.address().text()}, 3);
  REQUIRE_FALSE(after.failure);
  CHECK(after.counts() == std::vector<std::size_t>{1, 1, 1});
  CHECK(after.accept_all() == 1);
}

TEST_CASE("a unix socket that was handed over is shared by all workers") {
  const net::ScratchFolder folder;
  Before before;
  before.listen("unix:" + folder.file("front"));
  After after(before, {"unix:" + folder.file("front")}, 3);
  REQUIRE_FALSE(after.failure);
  CHECK(after.counts() == std::vector<std::size_t>{1, 1, 1});
  CHECK(before.inherited.empty());
  CHECK(std::filesystem::exists(folder.file("front")));
}

TEST_CASE("sockets that nobody wants stay where they are, in their order") {
  Before before;
  const std::string wanted = before.listen_on_port(2);
  const std::string unwanted = before.listen_on_port(2);
  After after(before, {wanted, "127.0.0.1:0"}, 2);
  REQUIRE_FALSE(after.failure);
  REQUIRE(before.inherited.size() == 2);
  CHECK(before.inherited[0].number == 2);
  CHECK(before.inherited[1].number == 3);
  CHECK(before.inherited[0].socket.address().text() == unwanted);
  CHECK(after.opened(0).text == wanted);
  CHECK(after.counts(1) == std::vector<std::size_t>{1, 1});
}

TEST_CASE("a port of the kernel's choice is another one each time, whatever was handed over") {
  Before before;
  before.listen_on_port(1);
  After after(before, {"127.0.0.1:0"}, 1);
  REQUIRE_FALSE(after.failure);
  CHECK(before.inherited.size() == 1);
}

TEST_CASE("[::] that takes IPv6 only is not the one that takes both") {
  Before before;
  const std::string port = std::to_string(before.listen("0.0.0.0:0").address().port());
  before.listen("[::]:" + port, {.port = net::Port::join, .ipv6_only = true});
  After after(before, {"0.0.0.0:" + port, "[::]:" + port}, 1);
  REQUIRE_FALSE(after.failure);
  CHECK(before.inherited.empty());
  CHECK(after.opened(1).sockets[0][0].ipv6_only());
}

TEST_CASE("an address in use that was not handed over is a failure, and what was is kept") {
  Before before;
  const std::string at = before.listen_on_port(1);
  const net::Backlog taken;
  After after(before, {at, taken.address().text()}, 1);
  REQUIRE(after.failure);
  CHECK(after.failure->bind == 1);
  CHECK(after.failure->message.find(taken.address().text()) == 0);
  connect_to(net::address_of(at));
}
