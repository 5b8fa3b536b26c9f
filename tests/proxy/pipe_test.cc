#include "weir/proxy/pipe.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/net/noted.h"
#include "tests/proxy/pattern.h"

using namespace weir;
using namespace weir::net;
using namespace weir::proxy;
using namespace std::chrono_literals;
using State = Pipe::State;
using Next = Pipe::Next;

namespace {

// One direction between two peers that the test plays, on a clock that it advances.
struct Story {
  Story(Ends from, Ends to) : source(std::move(from)), sink(std::move(to)) {
    REQUIRE(source.socket.watch(loop.sockets(), noted));
    REQUIRE(sink.socket.watch(loop.sockets(), noted));
    REQUIRE(turn_until(loop, [this] { return sink.socket.writable(); }));
  }

  Next pump() {
    const Next next = pipe.pump(source.socket, sink.socket, scratch, now, total, false);
    CHECK(pipe.held() <= Pipe::kMostHeld);
    return next;
  }
  // Turns and pumps until then.
  bool until(const std::function<bool()>& condition) {
    return turn_until(loop, [&] {
      pump();
      return condition();
    });
  }
  bool until(State state) {
    return until([&] { return pipe.state() == state; });
  }
  // The source sends without end, the sink's peer reads nothing, until the pipe is stuck.
  void get_stuck() {
    const std::string block(64 * 1024, 'x');
    CHECK(turn_until(loop, [&] {
      const std::size_t sent = source.peer.send_some(block);
      pump();
      return sent == 0 && pipe.stalled();
    }));
  }
  // Moves `text` from end to end; the peers do as much at a time as the test says.
  void move_all(const std::string& text, const std::function<std::size_t()>& feed,
                const std::function<std::size_t()>& drain) {
    std::string_view unsent = text;
    std::string received;
    CHECK(turn_until(loop, [&] {
      if (!unsent.empty()) unsent.remove_prefix(source.peer.send_some(unsent.substr(0, feed())));
      most_held = std::max(most_held, pipe.held());
      pump();
      was_bulk = was_bulk || pipe.bulk();
      received += sink.peer.receive_some(drain());
      return received.size() == text.size();
    }));
    CHECK((received == text));
    CHECK(pipe.bytes() == text.size());
    CHECK(total.value() == text.size());
  }

  Loop loop;
  Noted noted;
  Ends source, sink;
  Pipe pipe;
  core::Counter total;
  core::TimePoint now{1000s};
  std::vector<char> scratch = std::vector<char>(512 * 1024);
  std::size_t most_held = 0;
  bool was_bulk = false;
};

std::size_t all() { return 256 * 1024; }

}  // namespace

TEST_CASE("bytes go through in order, and nothing is held for a sink that takes them") {
  Story story(tcp_ends(), tcp_ends());
  story.source.peer.send("hello ");
  story.source.peer.send("world");
  CHECK(story.until([&] { return story.pipe.bytes() == 11; }));
  CHECK(story.sink.peer.receive(11) == "hello world");
  CHECK(story.pipe.held() == 0);
  CHECK(story.pipe.held() == 0);
  CHECK(story.pipe.state() == State::flowing);
  CHECK(story.pipe.last_moved() == story.now);
  CHECK_FALSE(story.pipe.stalled());
  CHECK_FALSE(story.pipe.bulk());
}

TEST_CASE("HC-01: the end is passed on after every byte before it") {
  for (const bool tcp : {true, false}) {
    CAPTURE(tcp);
    Story story(tcp ? tcp_ends() : unix_ends(), tcp ? tcp_ends() : unix_ends());
    story.source.peer.send("last words");
    story.source.peer.shut_write();
    CHECK(story.until(State::finished));
    CHECK(story.sink.peer.receive(64) == "last words");
    CHECK(story.sink.peer.next() == "end");
  }
}

TEST_CASE("HC-05: the end waits for what a slow sink has not taken yet") {
  Story story(tcp_ends(), tcp_ends(8192));
  const std::string text = pattern(600'000);
  std::string_view unsent = text;
  std::string received;
  CHECK(turn_until(story.loop, [&] {
    unsent.remove_prefix(story.source.peer.send_some(unsent));
    if (unsent.empty()) story.source.peer.shut_write();
    story.pump();
    received += story.sink.peer.receive_some(4000);
    return story.pipe.state() == State::finished;
  }));
  received += story.sink.peer.receive(text.size());
  CHECK((received == text));
  CHECK(story.sink.peer.next() == "end");
}

TEST_CASE("an end is not passed on when the close that follows at once will say it") {
  Story story(tcp_ends(), tcp_ends());
  story.source.peer.shut_write();
  CHECK(turn_until(story.loop, [&] {
    story.pipe.pump(story.source.socket, story.sink.socket, story.scratch, story.now, story.total,
                    true);
    return story.pipe.state() == State::finished;
  }));
  CHECK(story.sink.peer.next(false) == "nothing");
}

TEST_CASE("what came before a reset still goes out") {
  Story story(tcp_ends(), tcp_ends());
  story.source.peer.send("last words");
  story.source.peer.reset();
  CHECK(story.until(State::source_reset));
  CHECK(story.pipe.held() == 0);
  CHECK(story.sink.peer.receive(10) == "last words");
  CHECK(story.sink.peer.next(false) == "nothing");  // how to part is not the pipe's business
}

TEST_CASE("what is held when the source is reset goes out as the sink takes it") {
  Story story(tcp_ends(), tcp_ends(8192));
  const std::string text = pattern(14'000);
  fill(story.sink.socket);
  const std::size_t before = 64 * 1024;
  story.source.peer.send(text);
  turn_for(story.loop, 2ms);
  std::string received = story.sink.peer.receive_some(before);
  CHECK(turn_until(story.loop, [&] {
    received += story.sink.peer.receive_some(512);
    return story.sink.socket.writable();
  }));
  story.pump();
  story.source.peer.reset();
  CHECK(story.until([&] {
    received += story.sink.peer.receive_some(512);
    return story.pipe.state() == State::source_reset && story.pipe.held() == 0;
  }));
  CHECK(turn_until(story.loop, [&] {
    received += story.sink.peer.receive_some(before);
    return received.ends_with(text);
  }));
}

TEST_CASE("BP-01: never more than 64 KiB is held, whatever the sizes, and every byte arrives") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    core::Rng rng(seed);
    const bool source_tcp = rng.below(2) == 0;
    const bool sink_tcp = rng.below(2) == 0;
    CAPTURE(source_tcp);
    CAPTURE(sink_tcp);
    Story story(source_tcp ? tcp_ends() : unix_ends(), sink_tcp ? tcp_ends(16384) : unix_ends());
    // Now and then the reader takes much or little, so that reads grow and fall back.
    const auto size = [&rng] {
      constexpr std::size_t kSizes[] = {1, 700, 16384, 65536, 65537, 200'000, 262'144};
      return kSizes[rng.below(7)];
    };
    story.move_all(pattern(3'000'000, seed), size, size);
    CHECK(story.most_held <= Pipe::kMostHeld);
    CHECK(story.pipe.held() == 0);
  }
}

TEST_CASE("a bulk copy grows its reads, and is exact to the byte") {
  for (const bool tcp : {true, false}) {
    CAPTURE(tcp);
    Story story(tcp ? tcp_ends() : unix_ends(), tcp ? tcp_ends() : unix_ends());
    story.move_all(pattern(8'000'000, 7), all, all);
    if (tcp) CHECK(story.was_bulk);
  }
}

TEST_CASE("a turn ends although the source has more, and asks for another one") {
  Story story(tcp_ends(), tcp_ends());
  const std::string block(256 * 1024, 'x');
  bool resumed = false;
  CHECK(turn_until(story.loop, [&] {
    while (story.source.peer.send_some(block) > 0) {
    }
    const std::uint64_t before = story.pipe.bytes();
    const Next next = story.pump();
    CHECK(story.pipe.bytes() - before < 4 * 1024 * 1024);
    resumed = resumed || next == Next::resume;
    while (!story.sink.peer.receive_some().empty()) {
    }
    return resumed;
  }));
}

TEST_CASE(
    "a stuck sink is cut off between one bound and one and a quarter after it last took some") {
  Story story(tcp_ends(), tcp_ends(8192));
  story.get_stuck();
  const core::TimePoint stuck = story.now;
  bool cut = false;
  for (int looks = 0; looks < 10 && !cut; ++looks) {
    const core::TimePoint next = story.pipe.stall_check(60s);
    REQUIRE(next > story.now);
    REQUIRE(next <= story.now + 15s);
    story.now = next;
    cut = story.pipe.stalled_for(60s, story.sink.socket, story.now);
  }
  CHECK(cut);
  CHECK(story.now - stuck >= 60s);
  CHECK(story.now - stuck <= 75s);
}

TEST_CASE("a slow reader that drains the kernel's buffer is not cut off") {
  Story story(tcp_ends(), tcp_ends(32768));
  story.get_stuck();
  for (int looks = 0; looks < 12; ++looks) {
    const std::size_t before = story.sink.socket.unacknowledged();
    CHECK(turn_until(story.loop, [&] {
      if (story.sink.socket.unacknowledged() < before) return true;
      story.sink.peer.receive_some(1024);
      return false;
    }));
    story.now += 15s;
    REQUIRE_FALSE(story.pipe.stalled_for(60s, story.sink.socket, story.now));
    if (story.sink.socket.unacknowledged() == 0) {
      story.pump();
      story.get_stuck();
    }
  }
}

TEST_CASE("a sink that takes some again is no longer stalled") {
  Story story(tcp_ends(), tcp_ends(8192));
  story.get_stuck();
  CHECK(story.pipe.stall_check(60s) != core::kNever);
  CHECK(story.until([&] {
    story.sink.peer.receive_some();
    return story.source.socket.readable() ? false : story.pipe.held() == 0;
  }));
  CHECK_FALSE(story.pipe.stalled());
  CHECK(story.pipe.stall_check(60s) == core::kNever);
  CHECK_FALSE(story.pipe.stalled_for(60s, story.sink.socket, story.now + 1h));
}

TEST_CASE("after the sink broke, what the source sends is thrown away until its end") {
  for (const bool ends_well : {true, false}) {
    CAPTURE(ends_well);
    Story story(tcp_ends(), tcp_ends());
    story.sink.peer.reset();
    story.source.peer.send("for nobody");
    CHECK(story.until(State::sink_broken));
    const std::string block(100'000, 'x');
    std::string_view unsent = block;
    CHECK(story.until([&] {
      unsent.remove_prefix(story.source.peer.send_some(unsent));
      return unsent.empty() && !story.source.socket.readable();
    }));
    CHECK(story.pipe.bytes() == 0);
    CHECK(story.total.value() == 0);
    if (ends_well) story.source.peer.shut_write();
    if (!ends_well) story.source.peer.reset();
    CHECK(story.until(ends_well ? State::finished : State::source_reset));
  }
}

TEST_CASE("a sink that breaks while it is waited for is not waited for any more") {
  Story story(tcp_ends(), tcp_ends(8192));
  story.get_stuck();
  story.sink.peer.reset();
  CHECK(story.until(State::sink_broken));
  CHECK(story.pipe.held() == 0);
  CHECK_FALSE(story.pipe.stalled());
}

TEST_CASE("a sink that was waited for with nothing left in the source is not stalled") {
  // The source ends before the sink was ever writable.
  Loop loop;
  Noted noted;
  Ends source = tcp_ends();
  Ends sink = tcp_ends();
  Pipe pipe;
  core::Counter total;
  std::vector<char> scratch(64 * 1024);
  REQUIRE(source.socket.watch(loop.sockets(), noted));
  source.peer.shut_write();
  REQUIRE(turn_until(loop, [&] { return source.socket.readable(); }));
  REQUIRE(sink.socket.watch(loop.sockets(), noted));
  const core::TimePoint now{1000s};
  pipe.pump(source.socket, sink.socket, scratch, now, total, false);
  CHECK(turn_until(loop, [&] {
    pipe.pump(source.socket, sink.socket, scratch, now, total, false);
    return pipe.state() == State::finished;
  }));
  CHECK(sink.peer.next() == "end");
  CHECK_FALSE(pipe.stalled());
}
