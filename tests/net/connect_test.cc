#include "weir/net/connect.h"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <string>

#include "tests/net/noted.h"
#include "tests/net/scratch_folder.h"

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;
using core::DialOutcome;
using Kind = ConnectState::Kind;

namespace {

// One connect, from its beginning to what it comes to.
struct Dial {
  explicit Dial(const SocketAddress& to, const SocketAddress& source = {}) : target(to) {
    ConnectOptions options;
    options.source = source;
    state = begin_connect(to, options, socket);
  }
  // Lets something happen between the connect and the first look at it.
  void watch() {
    if (state.kind == Kind::pending) REQUIRE(socket.watch(loop.sockets(), noted));
  }
  Kind finish() {
    watch();
    const bool decided = turn_until(loop, [this] {
      if (state.kind == Kind::pending) state = continue_connect(socket, target);
      return state.kind != Kind::pending;
    });
    CHECK(decided);
    return state.kind;
  }

  Loop loop;
  Noted noted;
  const SocketAddress target;
  Socket socket;
  ConnectState state;
};

SocketAddress source_of(const std::string& text) {
  return SocketAddress::from(core::parse_source_address(text).endpoint);
}

}  // namespace

TEST_CASE("a connect to a listening port is connected, without delay of small writes") {
  Backlog listening;
  Dial dial(listening.address());
  CHECK(dial.finish() == Kind::connected);
  CHECK(get_option(dial.socket.fd(), IPPROTO_TCP, TCP_NODELAY) == 1);
  Peer peer = listening.accept();
  write_text(dial.socket, "hi");
  CHECK(peer.receive(2) == "hi");
}

TEST_CASE("a port that nobody listens on is refused") {
  Refusing closed;
  Dial dial(closed.address());
  CHECK(dial.finish() == Kind::failed);
  CHECK(dial.state.failure.outcome == DialOutcome::refused);
}

TEST_CASE("a connect whose first bytes follow at once is connected the same way") {
  Backlog listening;
  Loop loop;
  Noted noted;
  Socket socket;
  ConnectOptions options;
  options.data_follows = true;
  ConnectState state = begin_connect(listening.address(), options, socket);
  if (state.kind == Kind::pending) {
    REQUIRE(socket.watch(loop.sockets(), noted));
    REQUIRE(turn_until(loop, [&] { return socket.writable(); }));
    state = continue_connect(socket, listening.address());
  }
  REQUIRE(state.kind == Kind::connected);
  write_text(socket, "question");
  CHECK(listening.accept().receive(8) == "question");
}

TEST_CASE(
    "a connection that is reset at once is over before the program at the other side hears of it") {
  const auto unheard = [](bool reset_follows) {
    Loop loop;
    Backlog listening;
    Noted noted;
    Socket socket;
    ConnectOptions options;
    options.reset_follows = reset_follows;
    if (begin_connect(listening.address(), options, socket).kind == Kind::pending) {
      REQUIRE(socket.watch(loop.sockets(), noted));
      REQUIRE(turn_until(loop, [&] { return socket.writable(); }));
    }
    socket.abort();
    return !listening.somebody_waits();
  };
  CHECK_FALSE(unheard(false));
  bool once = false;  // a machine that is so busy may take longer than the kernel waits
  for (int i = 0; i < 5; ++i) once = unheard(true) || once;
  CHECK(once);
}

TEST_CASE("an address that no connection can be made to is unreachable") {
  Dial dial(address_of("255.255.255.255:9"));
  CHECK(dial.finish() == Kind::failed);
  CHECK(dial.state.failure.outcome == DialOutcome::unreachable);
  CHECK_FALSE(dial.socket);
}

TEST_CASE("a backend that does not answer stays pending") {
  BlackHole hole;
  Dial dial(hole.address());
  dial.watch();
  turn_for(dial.loop, 20ms);
  CHECK(continue_connect(dial.socket, dial.target).kind == Kind::pending);
  CHECK(dial.noted.times == 0);
}

TEST_CASE("a source that this machine does not have leaves no local port, which is not fatal") {
  Backlog listening;
  Dial dial(listening.address(), source_of("192.0.2.1"));
  CHECK(dial.state.kind == Kind::failed);
  CHECK(dial.state.failure.outcome == DialOutcome::local_error);
  CHECK(dial.state.failure.no_local_port);
  CHECK_FALSE(dial.socket);
}

TEST_CASE("a connect comes from the source address, or fails when that is of another family") {
  Backlog listening;
  Dial dial(listening.address(), source_of("127.0.0.3"));
  CHECK(dial.finish() == Kind::connected);
  CHECK(SocketAddress::local(dial.socket.fd()).text().starts_with("127.0.0.3:"));
  Dial mixed(listening.address(), source_of("::1"));
  CHECK(mixed.state.kind == Kind::failed);
  CHECK(mixed.state.failure.outcome == DialOutcome::unreachable);
}

TEST_CASE(
    "a greeting followed by a reset before anyone looked is connected, with the bytes there") {
  Backlog listening;
  Dial dial(listening.address());
  Peer peer = listening.accept();
  peer.send("hello!");
  peer.reset();
  REQUIRE(dial.finish() == Kind::connected);
  CHECK(read_text(dial.socket) == "hello!");
  std::array<char, 1> rest{};
  CHECK(dial.socket.read(rest).status == IoResult::Status::failed);
}

TEST_CASE("a greeting followed by an end before anyone looked is connected") {
  Backlog listening;
  Dial dial(listening.address());
  Peer peer = listening.accept();
  peer.send("hello!");
  peer.close();
  REQUIRE(dial.finish() == Kind::connected);
  CHECK(read_text(dial.socket) == "hello!");
  std::array<char, 1> rest{};
  CHECK(dial.socket.read(rest).status == IoResult::Status::end);
}

TEST_CASE("a reset before any byte is a failed dial") {
  Backlog listening;
  Dial dial(listening.address());
  listening.accept().reset();
  CHECK(dial.finish() == Kind::failed);
  CHECK(dial.state.failure.outcome == DialOutcome::reset);
}

TEST_CASE("a backend that ended in good order without a byte is connected") {
  Backlog listening;
  Dial dial(listening.address());
  listening.accept().close();
  CHECK(dial.finish() == Kind::connected);
}

TEST_CASE("a unix backend is connected at once, or refused when its path is missing or dead") {
  ScratchFolder folder;
  const SocketAddress path = address_of("unix:" + folder.file("s"));
  CHECK(Dial(path).state.failure.outcome == DialOutcome::refused);  // no such file
  Refusing dead(path);
  CHECK(Dial(path).state.failure.outcome == DialOutcome::refused);  // nobody listens
  const SocketAddress alive = address_of("unix:" + folder.file("t"));
  Backlog listening(alive);
  Dial dial(alive);
  CHECK(dial.finish() == Kind::connected);
  CHECK_FALSE(dial.socket.is_tcp());
}

TEST_CASE("a unix backend whose accept queue is full is neither connected nor failed") {
  ScratchFolder folder;
  BlackHole full(address_of("unix:" + folder.file("s")));
  Dial dial(full.address());
  CHECK(dial.state.kind == Kind::full);
  CHECK_FALSE(dial.socket);
  Peer taken = full.listening().accept();
  CHECK(Dial(full.address()).finish() == Kind::connected);
}

TEST_CASE("a connect that meets itself is refused, as nobody listens there") {
  // From a port to the same port: a simultaneous open with both ends ours. Another program may take
  // the port in between; then another one is tried.
  for (int tries = 0; tries < 50; ++tries) {
    const SocketAddress at = Refusing().address();
    Dial dial(at, at);
    const Kind kind = dial.finish();
    CHECK(kind == Kind::failed);
    if (dial.state.failure.outcome == DialOutcome::local_error) continue;
    CHECK(dial.state.failure.outcome == DialOutcome::refused);
    CHECK_FALSE(dial.socket);
    return;
  }
  FAIL("no port was free");
}
