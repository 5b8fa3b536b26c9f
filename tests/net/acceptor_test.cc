#include "weir/net/acceptor.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/net/noted.h"
#include "tests/net/scratch_folder.h"

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;

namespace {

ListenSocket listen_on(const core::Endpoint& endpoint) {
  std::string error;
  ListenSocket socket = ListenSocket::open(endpoint, {}, error);
  REQUIRE_MESSAGE(socket, error);
  return socket;
}

core::Endpoint any_port() {
  core::Endpoint endpoint;
  endpoint.host = "127.0.0.1";
  return endpoint;
}

// Takes up to `room` clients, and notes what it was told and when it was asked.
struct Reception final : Acceptor::Owner {
  explicit Reception(const core::Endpoint& endpoint = any_port())
      : acceptor(loop, listen_on(endpoint), *this), address(acceptor.socket().address()) {}

  bool may_accept() override {
    const bool may = accepted.size() < room;
    if (!may) refused_at.push_back(loop.now());
    return may;
  }
  void on_accepted(Descriptor socket, const SocketAddress& peer) override {
    accepted.emplace_back(std::move(socket));
    peers.push_back(peer.text());
  }
  void on_accept_error(AcceptError error) override { errors.push_back(error); }
  void on_batch_over() override { ++emptied; }
  void on_drained() override { drained = true; }

  std::vector<Peer> clients(int count) {
    std::vector<Peer> made;
    for (int i = 0; i < count; ++i) made.push_back(connect_to(address));
    return made;
  }

  Loop loop;
  std::size_t room = 1000;
  std::vector<Peer> accepted;
  std::vector<std::string> peers;
  std::vector<core::TimePoint> refused_at;
  std::vector<AcceptError> errors;
  int emptied = 0;
  bool drained = false;
  Acceptor acceptor;
  SocketAddress address;
};

// No further descriptor can be opened while it lives.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const Descriptor lowest(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    const rlimit none{static_cast<rlim_t>(lowest.get()), before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptorLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("every waiting client is accepted with its address, then the queue is empty") {
  Reception desk;
  auto clients = desk.clients(150);  // more than one batch
  CHECK(turn_until(desk.loop, [&] { return desk.accepted.size() == 150; }));
  CHECK(desk.emptied > 0);
  CHECK(desk.errors.empty());
  CHECK(desk.peers[0] == SocketAddress::local(clients[0].fd()).text());
  clients[7].send("x");
  CHECK(desk.accepted[7].receive(1) == "x");
}

TEST_CASE("an owner that may not accept is asked again after a pause, and nothing spins") {
  Reception desk;
  desk.room = 2;
  auto clients = desk.clients(5);
  CHECK(turn_until(desk.loop, [&] { return desk.refused_at.size() == 3; }));
  CHECK(desk.accepted.size() == 2);
  for (std::size_t i = 1; i < desk.refused_at.size(); ++i) {
    CHECK(desk.refused_at[i] - desk.refused_at[i - 1] >= 50ms);
  }
  desk.room = 1000;
  CHECK(turn_until(desk.loop, [&] { return desk.accepted.size() == 5; }));
}

TEST_CASE("ACC-01: at the kernel's descriptor limit clients wait unharmed until there is room") {
  Reception desk;
  auto clients = desk.clients(3);
  {
    const NoDescriptorLeft full;
    CHECK(turn_until(desk.loop, [&] { return desk.errors.size() >= 2; }));
    CHECK(desk.accepted.empty());
    for (const AcceptError error : desk.errors) CHECK(error == AcceptError::fd_limit);
    CHECK(desk.errors.size() == 2);  // once a pause
  }
  CHECK(turn_until(desk.loop, [&] { return desk.accepted.size() == 3; }));
  clients[2].send("x");
  CHECK(desk.accepted[2].receive(1) == "x");
}

TEST_CASE("draining hands everything that waits to the owner and resets nobody") {
  Reception desk;
  auto clients = desk.clients(100);
  desk.acceptor.drain();
  REQUIRE(turn_until(desk.loop, [&] { return desk.drained; }));
  REQUIRE(desk.accepted.size() == 100);
  for (Peer& each : desk.accepted) each.send("bye");
  for (Peer& client : clients) CHECK(client.receive(3) == "bye");
  CHECK_FALSE(connect_to(desk.address));
  turn_for(desk.loop, 2ms);
}

TEST_CASE("draining comes to its end when the last of a full batch empties the queue") {
  ScratchFolder folder;
  core::Endpoint path;
  path.kind = core::Endpoint::Kind::unix_path;
  path.host = folder.file("s");
  for (const core::Endpoint& endpoint : {any_port(), path}) {
    for (const int full : {64, 128}) {
      CAPTURE(full);
      Reception desk(endpoint);
      auto clients = desk.clients(full);
      desk.acceptor.drain();
      CHECK(turn_until(desk.loop, [&] { return desk.drained; }));
      CHECK(desk.accepted.size() == static_cast<std::size_t>(full));
    }
  }
}

TEST_CASE("draining waits for room, and then hands over what waits") {
  Reception desk;
  desk.room = 0;
  auto clients = desk.clients(4);
  CHECK(turn_until(desk.loop, [&] { return !desk.refused_at.empty(); }));
  desk.acceptor.drain();
  CHECK_FALSE(desk.drained);
  desk.room = 1000;
  CHECK(turn_until(desk.loop, [&] { return desk.drained; }));
  CHECK(desk.accepted.size() == 4);
}

TEST_CASE("a unix listener's clients have no path of their own") {
  ScratchFolder folder;
  Reception desk(core::parse_endpoint("unix:" + folder.file("s")).endpoint);
  auto clients = desk.clients(2);
  CHECK(turn_until(desk.loop, [&] { return desk.accepted.size() == 2; }));
  CHECK(desk.peers[0] == "unix:");
  desk.acceptor.drain();
  CHECK(desk.drained);
  CHECK_FALSE(connect_to(desk.address));
}

TEST_CASE("a client that was reset before the accept is handed over all the same") {
  Reception desk;
  desk.clients(1)[0].reset();
  CHECK(turn_until(desk.loop, [&] { return desk.accepted.size() == 1; }));
  CHECK(desk.accepted[0].next() == "reset");
}

TEST_CASE("accept errors carry the words of the metric") {
  CHECK(name(AcceptError::fd_limit) == "fd_limit");
  CHECK(name(AcceptError::no_memory) == "no_memory");
  CHECK(name(AcceptError::aborted) == "aborted");
  CHECK(name(AcceptError::other) == "other");
}

TEST_CASE("while it is held it accepts nobody, and goes on with all who have come") {
  Reception reception;
  reception.acceptor.hold();
  const auto clients = reception.clients(5);
  turn_for(reception.loop, 50ms);
  CHECK(reception.accepted.empty());
  CHECK(reception.errors.empty());
  reception.acceptor.go_on();
  CHECK(turn_until(reception.loop, [&] { return reception.accepted.size() == 5; }));
}

TEST_CASE("held in a pause it stays silent when that is over") {
  Reception reception;
  reception.room = 0;
  const auto clients = reception.clients(1);
  CHECK(turn_until(reception.loop, [&] { return !reception.errors.empty(); }));
  reception.acceptor.hold();
  reception.room = 10;
  turn_for(reception.loop, 120ms);
  CHECK(reception.accepted.empty());
  reception.acceptor.go_on();
  CHECK(turn_until(reception.loop, [&] { return reception.accepted.size() == 1; }));
}

TEST_CASE("a drain after a hold hands over who waits") {
  Reception reception;
  reception.acceptor.hold();
  const auto clients = reception.clients(3);
  reception.acceptor.drain();
  CHECK(turn_until(reception.loop, [&] { return reception.drained; }));
  CHECK(reception.accepted.size() == 3);
}
