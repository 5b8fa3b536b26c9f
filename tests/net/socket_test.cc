#include "weir/net/socket.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "tests/net/noted.h"
#include "weir/net/connect.h"
#include "weir/net/listen_socket.h"

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;
using Status = IoResult::Status;

namespace {

// A watched socket and its peer.
struct Watched {
  explicit Watched(Ends made) : ends(std::move(made)) {
    REQUIRE(ends.socket.watch(loop.sockets(), noted));
    REQUIRE(turn_until(loop, [this] { return socket.writable(); }));
  }
  bool turn_until_readable() {
    return turn_until(loop, [this] { return socket.readable(); });
  }

  Loop loop;
  Noted noted;
  Ends ends;
  Socket& socket = ends.socket;
  Peer& peer = ends.peer;
  std::array<char, 10> buffer{};
};

}  // namespace

TEST_CASE("what is readable stays remembered until a read has found the bottom") {
  Watched it(tcp_ends());
  it.peer.send("hello");
  REQUIRE(it.turn_until_readable());
  const int told = it.noted.times;
  turn_for(it.loop, 3ms);
  CHECK(it.noted.times == told);  // an edge is told once
  CHECK(it.socket.readable());
  CHECK(read_text(it.socket, 2) == "he");
  CHECK(it.socket.readable());  // the buffer was filled, so there may be more
  CHECK(read_text(it.socket, 10) == "llo");
  CHECK_FALSE(it.socket.readable());  // a short read emptied it
  it.peer.send("again");
  CHECK(it.turn_until_readable());
  CHECK(read_text(it.socket, 5) == "again");
  CHECK(it.socket.read(it.buffer).status == Status::blocked);
  CHECK_FALSE(it.socket.readable());
}

// Ends through a listening socket and a dial of weir's own.
Ends real_ends(bool accepted) {
  std::string error;
  core::Endpoint any;
  any.host = "127.0.0.1";
  const ListenSocket listening = ListenSocket::open(any, {}, error);
  REQUIRE_MESSAGE(listening, error);
  Socket dialled;
  REQUIRE(begin_connect(listening.address(), {}, dialled).kind != ConnectState::Kind::failed);
  pollfd queue{listening.fd(), POLLIN, 0};
  REQUIRE(::poll(&queue, 1, 20000) == 1);
  Descriptor taken(::accept4(listening.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const auto blocking = [](int fd) { REQUIRE(::fcntl(fd, F_SETFL, 0) == 0); };
  if (!accepted) {
    blocking(taken.get());
    return {std::move(dialled), Peer(std::move(taken))};
  }
  blocking(dialled.fd());
  return {Socket(std::move(taken)), Peer(Descriptor(::fcntl(dialled.fd(), F_DUPFD_CLOEXEC, 3)))};
}

TEST_CASE("urgent bytes arrive in their place, and hide nothing that came behind them") {
  for (const bool accepted : {true, false}) {
    CAPTURE(accepted);
    Watched it(real_ends(accepted));
    it.peer.send("abc");
    REQUIRE(::send(it.peer.fd(), "d", 1, MSG_OOB) == 1);
    it.peer.send("efg");
    std::string all;
    CHECK(turn_until(it.loop, [&] {
      // As long as the socket says so, and no longer.
      while (it.socket.readable()) all += read_text(it.socket, 100);
      return all.size() >= 7;
    }));
    CHECK(all == "abcdefg");
    it.peer.send("h");
    CHECK(turn_until(it.loop, [&] { return it.socket.readable(); }));
    CHECK(read_text(it.socket, 100) == "h");
  }
}

TEST_CASE("a unix peer's message with a descriptor hides nothing that came behind it") {
  Watched it(unix_ends());
  char bytes[] = "ab";
  iovec part{bytes, 2};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int passed = it.peer.fd();
  std::memcpy(CMSG_DATA(rights), &passed, sizeof passed);
  REQUIRE(::sendmsg(it.peer.fd(), &message, 0) == 2);
  it.peer.send("cd");
  REQUIRE(it.turn_until_readable());
  turn_for(it.loop, 3ms);
  std::string all;
  while (it.socket.readable()) all += read_text(it.socket, 100);
  CHECK(all == "abcd");
}

TEST_CASE("an end that was announced stays readable behind the bytes before it") {
  for (const bool tcp : {true, false}) {
    CAPTURE(tcp);
    Watched it(tcp ? tcp_ends() : unix_ends());
    it.peer.send("abc");
    it.peer.shut_write();
    REQUIRE(turn_until(it.loop, [&] { return it.socket.peer_ended(); }));
    CHECK_FALSE(it.socket.peer_failed());
    CHECK(read_text(it.socket, 10) == "abc");
    REQUIRE(it.socket.readable());
    CHECK(it.socket.read(it.buffer).status == Status::end);
  }
}

TEST_CASE("an end that comes after a short read makes the socket readable again") {
  Watched it(tcp_ends());
  it.peer.send("abc");
  REQUIRE(it.turn_until_readable());
  CHECK(read_text(it.socket, 10) == "abc");
  REQUIRE_FALSE(it.socket.readable());
  it.peer.shut_write();
  REQUIRE(it.turn_until_readable());
  CHECK(it.socket.read(it.buffer).status == Status::end);
}

TEST_CASE("the bytes before a reset can still be read, then the read fails") {
  Watched it(tcp_ends());
  it.peer.send("last words");
  it.peer.reset();
  REQUIRE(turn_until(it.loop, [&] { return it.socket.peer_failed(); }));
  CHECK(it.socket.peer_ended());
  CHECK(read_text(it.socket, 64) == "last words");
  REQUIRE(it.socket.readable());
  CHECK(it.socket.read(it.buffer).status == Status::failed);
}

TEST_CASE("a write that was cut short leaves the socket unwritable until the peer has drained it") {
  for (const bool tcp : {true, false}) {
    CAPTURE(tcp);
    Watched it(tcp ? tcp_ends(8192) : unix_ends());
    std::size_t taken = fill(it.socket);
    CHECK_FALSE(it.socket.writable());
    // Until the peer's kernel, which may be late, has taken all it takes.
    for (turn_for(it.loop, 2ms); it.socket.writable(); turn_for(it.loop, 2ms)) {
      taken += fill(it.socket);
    }
    CHECK(write_text(it.socket, "x").status == Status::blocked);
    CHECK(it.socket.unacknowledged() > 0);
    CHECK(it.peer.receive(taken).size() == taken);
    CHECK(turn_until(it.loop, [&] { return it.socket.writable(); }));
    CHECK(turn_until(it.loop, [&] { return it.socket.unacknowledged() == 0; }));
  }
}

TEST_CASE("a short count alone says that the rest would block") {
  Watched it(unix_ends());
  const std::string more(8 * 1024 * 1024, 'x');
  const IoResult written = it.socket.write(more);
  REQUIRE(written.status == Status::done);
  REQUIRE(written.bytes < more.size());
  CHECK_FALSE(it.socket.writable());
}

TEST_CASE("a look at a reset does not hide it from the read after it") {
  Watched it(tcp_ends());
  it.peer.reset();
  REQUIRE(turn_until(it.loop, [&] { return it.socket.peer_failed(); }));
  CHECK(it.socket.peek() == Status::failed);
  CHECK(it.socket.peek() == Status::failed);
  std::array<char, 1> byte{};
  CHECK(it.socket.read(byte).status == Status::failed);
}

TEST_CASE("a write to a peer that was reset fails and raises no signal") {
  Watched it(tcp_ends());
  it.peer.reset();
  REQUIRE(turn_until(it.loop, [&] { return it.socket.peer_failed(); }));
  CHECK(write_text(it.socket, "x").status == Status::failed);
  CHECK(write_text(it.socket, "x").status == Status::failed);
}

TEST_CASE("the room of a socket is what the kernel still takes, and none where it cannot be told") {
  Watched it(tcp_ends());
  const std::size_t room = it.socket.room();
  CHECK(room > 0);
  const std::size_t taken = fill(it.socket);
  CHECK(taken > 0);
  CHECK(it.socket.room() < room);
  CHECK(unix_ends().socket.room() == 0);
}

TEST_CASE("abort resets the peer, close ends in good order") {
  {
    Watched it(tcp_ends());
    it.socket.abort();
    CHECK(it.peer.next() == "reset");
  }
  {
    Watched it(tcp_ends());
    write_text(it.socket, "bye");
    it.socket.close();
    CHECK(it.peer.receive(10) == "bye");
    CHECK(it.peer.next() == "end");
  }
}

TEST_CASE("shutdown_write ends one direction only") {
  Watched it(tcp_ends());
  write_text(it.socket, "question");
  it.socket.shutdown_write();
  CHECK(it.peer.receive(20) == "question");
  it.peer.send("answer");
  REQUIRE(it.turn_until_readable());
  CHECK(read_text(it.socket) == "answer");
}

TEST_CASE("another watcher takes over, and what was ready stays remembered") {
  Watched it(tcp_ends());
  it.peer.send("early");
  REQUIRE(it.turn_until_readable());
  Noted second;
  it.socket.set_watcher(second);
  const int told = it.noted.times;
  CHECK(it.socket.readable());
  CHECK(read_text(it.socket) == "early");
  it.peer.send("late");
  CHECK(it.turn_until_readable());
  CHECK(second.times > 0);
  CHECK(it.noted.times == told);
}

TEST_CASE("a moved socket takes its registration along") {
  Watched it(tcp_ends());
  it.peer.send("hi");
  REQUIRE(it.turn_until_readable());
  Socket moved(std::move(it.socket));
  CHECK_FALSE(it.socket);
  CHECK(moved.readable());
  Socket assigned;
  assigned = std::move(moved);
  CHECK_FALSE(moved);
  CHECK(read_text(assigned) == "hi");
  it.peer.send("more");
  CHECK(turn_until(it.loop, [&] { return assigned.readable(); }));
}

TEST_CASE("assigning over a socket closes the one that was there") {
  Watched it(tcp_ends());
  it.socket = Socket();
  CHECK(it.peer.next() == "end");
}

TEST_CASE("keepalive is set as asked, and 0 leaves the system's setting in place") {
  Ends changed = tcp_ends();
  Ends plain = tcp_ends();
  const int fd = changed.socket.fd();
  changed.socket.set_keepalive({7s, 2500ms, 5, 1500ms});
  CHECK(get_option(fd, SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(get_option(fd, IPPROTO_TCP, TCP_KEEPIDLE) == 7);
  CHECK(get_option(fd, IPPROTO_TCP, TCP_KEEPINTVL) == 3);  // never shorter than asked
  CHECK(get_option(fd, IPPROTO_TCP, TCP_KEEPCNT) == 5);
  CHECK(get_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT) == 1500);
  const int other = plain.socket.fd();
  const int idle = get_option(other, IPPROTO_TCP, TCP_KEEPIDLE);
  plain.socket.set_keepalive({0s, 0s, 0, 0s});
  CHECK(get_option(other, IPPROTO_TCP, TCP_KEEPIDLE) == idle);
  CHECK(get_option(other, IPPROTO_TCP, TCP_USER_TIMEOUT) == 0);
}
