#include "weir/proxy/parting.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/net/noted.h"
#include "tests/proxy/pattern.h"

using namespace weir;
using namespace weir::net;
using namespace weir::proxy;
using namespace std::chrono_literals;

namespace {

// Taking leave of one peer, on a clock that the test advances.
struct Farewell {
  explicit Farewell(Ends made) : ends(std::move(made)) {
    REQUIRE(ends.socket.watch(loop.sockets(), noted));
    REQUIRE(turn_until(loop, [this] { return ends.socket.writable(); }));
  }
  void begin(Manner manner, core::Duration bound = 5s) {
    parting = Parting(ends.socket, manner, bound, now);
  }
  bool step() { return parting.step(ends.socket, scratch, now); }
  bool until_over() {
    return turn_until(loop, [this] { return step(); });
  }

  Loop loop;
  Noted noted;
  Ends ends;
  Peer& peer = ends.peer;
  Parting parting;
  core::TimePoint now{1000s};
  std::vector<char> scratch = std::vector<char>(16 * 1024);
};

}  // namespace

TEST_CASE("nobody to take leave of is over at once") {
  Parting none;
  Socket empty;
  CHECK(none.step(empty, {}, core::TimePoint{1000s}));
  Parting closed(empty, Manner::finish, 5s, core::TimePoint{1000s});
  CHECK(closed.step(empty, {}, core::TimePoint{1000s}));
}

TEST_CASE("close and abort are over at once, with an end and with a reset") {
  Farewell good(tcp_ends());
  good.begin(Manner::close);
  CHECK(good.step());
  CHECK(good.peer.next() == "end");
  Farewell bad(tcp_ends());
  bad.begin(Manner::abort);
  CHECK(bad.step());
  CHECK(bad.peer.next() == "reset");
}

TEST_CASE("a peer that is gone asks for no further look") {
  for (const Manner manner : {Manner::close, Manner::abort}) {
    Farewell story(tcp_ends());
    story.begin(manner);
    CHECK(story.step());
    CHECK(story.parting.next_look() == core::kNever);
  }
  Socket empty;
  Parting nobody(empty, Manner::close, 5s, core::TimePoint{1000s});
  CHECK(nobody.step(empty, {}, core::TimePoint{1000s}));
  CHECK(nobody.next_look() == core::kNever);
}

TEST_CASE("a bound of 0 closes at once, whatever the peer does") {
  for (const Manner manner : {Manner::finish, Manner::linger}) {
    Farewell story(tcp_ends());
    story.begin(manner, 0s);
    CHECK(story.step());
    CHECK_FALSE(story.ends.socket);
    CHECK(story.peer.next() == "end");
  }
}

TEST_CASE("lingering is over once a silent peer has everything") {
  Farewell story(tcp_ends());
  write_text(story.ends.socket, "bye");
  story.begin(Manner::finish);
  CHECK(story.until_over());
  CHECK(story.parting.next_look() == core::kNever);
  CHECK(story.peer.receive(10) == "bye");
  CHECK(story.peer.next() == "end");
}

TEST_CASE("HC-06: lingering keeps the last bytes from a reset while the peer still sends") {
  Farewell story(tcp_ends(16384));
  story.peer.send(std::string(100, 'u'));  // nobody will read these
  const std::string text = pattern(200'000);
  std::size_t written = 0;
  while (story.ends.socket.writable()) {
    written += story.ends.socket.write(std::string_view(text).substr(written)).bytes;
  }
  story.begin(Manner::finish);
  std::string received;
  bool over = false;
  CHECK(turn_until(story.loop, [&] {
    over = over || story.step();
    received += story.peer.receive_some(2000);
    if (received.size() == written) story.peer.shut_write();
    return over && received.size() == written;
  }));
  CHECK((received == text.substr(0, written)));
  CHECK(story.peer.next() == "end");
}

TEST_CASE("a peer that still sends is read on until it ends, though it has everything") {
  Farewell story(tcp_ends());
  write_text(story.ends.socket, "bye");
  CHECK(story.peer.receive(3) == "bye");
  story.begin(Manner::linger);
  story.peer.send("still busy");
  CHECK(turn_until(story.loop, [&] {
    return story.ends.socket.readable() && story.ends.socket.unacknowledged() == 0;
  }));
  CHECK_FALSE(story.step());
  story.now += 4s;
  CHECK_FALSE(story.step());
  story.peer.shut_write();
  CHECK(story.until_over());
  CHECK(story.peer.next() == "end");
}

TEST_CASE("lingering ends at its bound although the peer takes nothing") {
  Farewell story(tcp_ends(8192));
  fill(story.ends.socket);
  story.begin(Manner::finish, 5s);
  CHECK_FALSE(story.step());
  story.now += 5s - 1ns;
  CHECK_FALSE(story.step());
  story.now += 1ns;
  CHECK(story.step());
}

TEST_CASE("looks come soon at first, then less often, and never after the bound") {
  Farewell story(tcp_ends(8192));
  fill(story.ends.socket);
  const core::TimePoint start = story.now;
  story.begin(Manner::finish, 300ms);
  std::vector<core::Duration> pauses;
  while (!story.step()) {
    REQUIRE(story.parting.next_look() > story.now);
    pauses.push_back(story.parting.next_look() - story.now);
    story.now = story.parting.next_look();
  }
  CHECK(story.now == start + 300ms);
  CHECK(pauses[0] == 1ms);
  CHECK(pauses[1] == 2ms);
  for (const core::Duration pause : pauses) CHECK(pause <= 50ms);
  CHECK(pauses.size() < 20);
}

TEST_CASE("a refused client sees an end in good order, and may still send until it ends too") {
  Farewell story(tcp_ends());
  story.begin(Manner::linger);
  CHECK(story.peer.next() == "end");
  story.now += 4s;
  CHECK_FALSE(story.step());  // it has only just come, and may be about to send
  story.peer.send("SELECT 1");
  CHECK(turn_until(story.loop, [&] { return story.ends.socket.readable(); }));
  CHECK_FALSE(story.step());
  CHECK(story.peer.next() == "end");
  story.peer.shut_write();
  CHECK(story.until_over());
}

TEST_CASE("a refused client that stays is closed at the bound") {
  Farewell story(tcp_ends());
  story.begin(Manner::linger, 5s);
  story.now += 5s;
  CHECK(story.step());
}

TEST_CASE("a reset waits for what was sent before it") {
  Farewell story(tcp_ends(8192));
  const std::size_t sent = fill(story.ends.socket);
  story.begin(Manner::reset);
  CHECK_FALSE(story.step());
  std::string received;
  CHECK(turn_until(story.loop, [&] {
    received += story.peer.receive_some(1000);
    return story.step();
  }));
  received += story.peer.receive(sent - received.size());
  CHECK(received.size() == sent);
  CHECK(story.peer.next() == "reset");
}

TEST_CASE("a reset that cannot be delivered comes at the bound all the same") {
  Farewell story(tcp_ends(8192));
  fill(story.ends.socket);
  story.begin(Manner::reset, 2s);
  CHECK_FALSE(story.step());
  story.now += 2s;
  CHECK(story.step());
  CHECK_FALSE(story.ends.socket);
}

TEST_CASE("what a unix socket took is with the peer already") {
  Farewell story(unix_ends());
  write_text(story.ends.socket, "bye");
  story.begin(Manner::finish);
  CHECK(story.step());
  CHECK(story.peer.receive(10) == "bye");
}

TEST_CASE("a peer that sends without end gives others their turn, one buffer at a time") {
  Farewell story(tcp_ends());
  story.begin(Manner::linger);
  const std::string block(256 * 1024, 'x');
  bool gave_way = false;
  CHECK(turn_until(story.loop, [&] {
    story.peer.send_some(block);
    CHECK_FALSE(story.step());
    gave_way = gave_way || story.parting.wants_turn();
    return gave_way;
  }));
  story.peer.reset();
  CHECK(story.until_over());
}
