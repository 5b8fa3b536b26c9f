#include "weir/proxy/relay.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "tests/proxy/relay_story.h"

using namespace weir;
using namespace weir::net;
using namespace weir::proxy;
using namespace std::chrono_literals;
using core::CloseReason;

namespace {

upstream::TimeoutOptions only(core::Duration idle, core::Duration half_close = 0s,
                              core::Duration write_stall = 0s, core::Duration session = 0s) {
  upstream::TimeoutOptions options;
  options.idle = idle;
  options.half_close = half_close;
  options.write_stall = write_stall;
  options.session = session;
  return options;
}

// As a whole, so that a failure shows what differs.
std::string text(const std::optional<RelayEnd>& end) {
  if (!end) return "goes on";
  const auto manner = [](Manner how) -> std::string {
    switch (how) {
      case Manner::close:
        return "close";
      case Manner::finish:
        return "finish";
      case Manner::linger:
        return "linger";
      case Manner::reset:
        return "reset";
      case Manner::abort:
        return "abort";
    }
    return "?";
  };
  return std::string(core::name(end->reason)) + ", client " + manner(end->client) + ", backend " +
         manner(end->backend);
}

}  // namespace

TEST_CASE("bytes go both ways and are counted by direction") {
  RelayStory story;
  story.client_says("question");
  story.backend_says("a longer answer");
  CHECK(story.relay.bytes_in() == 8);
  CHECK(story.relay.bytes_out() == 15);
  CHECK(story.totals.bytes_in.value() == 8);
  CHECK(story.totals.bytes_out.value() == 15);
  CHECK(text(story.end) == "goes on");
}

TEST_CASE("the first byte is the backend's, when it was passed on") {
  RelayStory story;
  story.client_says("question");
  CHECK(story.relay.first_byte() == core::kNever);
  story.now += 3s;
  story.backend_says("answer");
  CHECK(story.relay.first_byte() == story.start + 3s);
  story.now += 3s;
  story.backend_says("more");
  CHECK(story.relay.first_byte() == story.start + 3s);
}

TEST_CASE("HC-01: after the client's end the answer still comes, then it is client_closed") {
  RelayStory story;
  story.client.peer.send("question");
  story.client.peer.shut_write();
  CHECK(story.until([&] { return story.relay.bytes_in() == 8; }));
  CHECK(story.backend.peer.receive(64) == "question");
  CHECK(story.backend.peer.next() == "end");
  story.backend_says("answer");
  CHECK(text(story.end) == "goes on");
  story.backend.peer.shut_write();
  CHECK(story.until_end());
  CHECK(text(story.end) == "client_closed, client close, backend close");
}

TEST_CASE("HC-01: after the backend's end the client is still heard, then it is backend_closed") {
  RelayStory story;
  story.backend.peer.send("greeting");
  story.backend.peer.shut_write();
  CHECK(story.until([&] { return story.relay.bytes_out() == 8; }));
  CHECK(story.client.peer.receive(64) == "greeting");
  CHECK(story.client.peer.next() == "end");
  story.client_says("still here");
  story.client.peer.shut_write();
  CHECK(story.until_end());
  CHECK(text(story.end) == "backend_closed, client close, backend close");
}

TEST_CASE("a client's reset becomes a reset, after what the backend may still read") {
  RelayStory story;
  story.client.peer.send("last words");
  story.client.peer.reset();
  CHECK(story.until_end());
  CHECK(text(story.end) == "client_reset, client close, backend reset");
  CHECK(story.backend.peer.receive(10) == "last words");
}

TEST_CASE("a backend's reset becomes a reset, after what the client may still read") {
  RelayStory story;
  story.backend.peer.send("last words");
  story.backend.peer.reset();
  CHECK(story.until_end());
  CHECK(text(story.end) == "backend_reset, client reset, backend close");
  CHECK(story.client.peer.receive(10) == "last words");
}

TEST_CASE("HC-05: a backend that ended and then refuses more of the client's bytes was complete") {
  RelayStory story;
  story.backend.peer.send("whole answer");
  story.backend.peer.close();
  CHECK(story.until([&] { return story.client.peer.next(false) == "bytes"; }));
  CHECK(story.until([&] {
    story.client.peer.send_some("more ");
    return story.end.has_value();
  }));
  CHECK(story.end->reason == CloseReason::backend_closed);
  // In good order; how long it reads on depends on whether the client was heard in between.
  CHECK((story.end->client == Manner::linger || story.end->client == Manner::finish));
  CHECK(story.end->backend == Manner::close);
  CHECK(story.client.peer.receive(12) == "whole answer");
}

TEST_CASE("a client that sent all it had and was gone when the answer came is client_reset") {
  RelayStory story;
  story.client.peer.send("question");
  story.client.peer.close();
  CHECK(story.until([&] { return story.relay.bytes_in() == 8; }));
  CHECK(story.until([&] {
    story.backend.peer.send_some("answer ");
    return story.end.has_value();
  }));
  CHECK(text(story.end) == "client_reset, client close, backend reset");
  CHECK(story.backend.peer.receive(8) == "question");
}

TEST_CASE("TO-01: idle counts both directions together, from the start of the relay") {
  RelayStory story(only(10s));
  CHECK(story.relay.next_deadline() == story.start + 10s);
  story.now = story.start + 9s;
  story.client_says("x");
  CHECK(story.relay.next_deadline() == story.start + 19s);
  story.now = story.start + 18s;
  story.backend_says("x");
  CHECK(story.relay.next_deadline() == story.start + 28s);
  CHECK_FALSE(story.relay.on_deadline(story.start + 28s - 1ns));
  story.wait_until(story.start + 60s);
  CHECK(text(story.end) == "idle_timeout, client finish, backend finish");
  CHECK(story.now == story.start + 28s);
}

TEST_CASE("an idle bound of 0 is none") {
  RelayStory story(only(0s));
  CHECK(story.relay.next_deadline() == core::kNever);
}

TEST_CASE("HC-02: after one end, silence is bounded by half_close and not by idle") {
  RelayStory story(only(1h, 30s));
  story.now += 100s;
  story.backend.peer.shut_write();
  CHECK(story.until([&] { return story.client.peer.next(false) == "end"; }));
  CHECK(story.relay.next_deadline() == story.start + 130s);
  story.now += 20s;
  story.client_says("the living direction");
  CHECK(story.relay.next_deadline() == story.start + 150s);
  story.wait_until(story.start + 1h);
  CHECK(text(story.end) == "half_close_timeout, client finish, backend finish");
  CHECK(story.now == story.start + 150s);
}

TEST_CASE("a half_close of 0 is as idle") {
  RelayStory story(only(10s, 0s));
  story.now += 4s;
  story.client.peer.shut_write();
  CHECK(story.until([&] { return story.backend.peer.next(false) == "end"; }));
  CHECK(story.relay.next_deadline() == story.start + 14s);
  story.wait_until(story.start + 1h);
  CHECK(story.end->reason == CloseReason::half_close_timeout);
}

TEST_CASE(
    "a client that does not read is cut as write_stall, and must see that bytes are missing") {
  RelayStory story(only(0s, 0s, 60s), 16384);
  story.get_stuck(story.backend.peer, story.client.socket);
  const core::TimePoint stuck = story.now;
  story.wait_until(stuck + 1h);
  CHECK(text(story.end) == "write_stall, client abort, backend reset");
  CHECK(story.now - stuck >= 60s);
  CHECK(story.now - stuck <= 75s);
}

TEST_CASE("a backend that does not read is cut as write_stall") {
  RelayStory story(only(0s, 0s, 60s), 16384);
  story.get_stuck(story.client.peer, story.backend.socket);
  story.wait_until(story.now + 1h);
  CHECK(text(story.end) == "write_stall, client reset, backend abort");
}

TEST_CASE("a write_stall of 0 is as idle, and none when that is 0 too") {
  RelayStory bounded(only(20s, 0s, 0s), 16384);
  bounded.get_stuck(bounded.backend.peer, bounded.client.socket);
  bounded.wait_until(bounded.now + 1h);
  CHECK(bounded.end->reason == CloseReason::write_stall);
  CHECK(bounded.now - bounded.start >= 20s);
  CHECK(bounded.now - bounded.start <= 25s);
  RelayStory unbounded(only(0s, 0s, 0s), 16384);
  unbounded.get_stuck(unbounded.backend.peer, unbounded.client.socket);
  CHECK(unbounded.relay.next_deadline() == core::kNever);
  CHECK_FALSE(unbounded.relay.on_deadline(unbounded.now + 100h));
}

TEST_CASE("while a reader is waited for, silence is no reason to end") {
  RelayStory story(only(10s, 0s, 60s), 16384);
  story.get_stuck(story.backend.peer, story.client.socket);
  story.wait_until(story.start + 59s);
  CHECK(text(story.end) == "goes on");
}

TEST_CASE("a slow reader that drains the kernel's buffer is not cut") {
  RelayStory story(only(0s, 0s, 60s), 32768);
  story.get_stuck(story.backend.peer, story.client.socket);
  for (int i = 0; i < 12; ++i) {
    const std::size_t before = story.client.socket.unacknowledged();
    CHECK(turn_until(story.loop, [&] {
      story.client.peer.receive_some(2048);
      return story.client.socket.unacknowledged() < before;
    }));
    story.wait_until(story.now + 50s);
    REQUIRE(text(story.end) == "goes on");
    story.get_stuck(story.backend.peer, story.client.socket);
  }
}

TEST_CASE("the session's bound is shortened by up to a tenth, differently for each") {
  core::TimePoint previous{};
  int different = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RelayStory story;
    const auto timeouts = only(0s, 0s, 0s, 100s);
    core::Rng rng(seed);
    // Counted from the client's accept, however long the dial took.
    const core::TimePoint accepted = story.start - 30s;
    const Relay relay(story.client.socket, story.backend.socket, timeouts, story.totals, accepted,
                      story.start, rng);
    const core::TimePoint at = relay.next_deadline();
    CHECK(at >= accepted + 90s);
    CHECK(at <= accepted + 100s);
    if (at != previous) ++different;
    previous = at;
  }
  CHECK(different == 20);
}

TEST_CASE("a session ends at its bound however lively it is") {
  RelayStory story(only(1h, 0s, 0s, 100s));
  const core::TimePoint at = story.relay.next_deadline();
  story.now = at - 1ms;
  story.client_says("busy");
  CHECK(story.relay.next_deadline() == at);
  story.wait_until(story.start + 1h);
  CHECK(story.now == at);
  CHECK(text(story.end) == "session_timeout, client linger, backend linger");
}

TEST_CASE("a session that is cut ends in good order, but for who was in the middle of receiving") {
  RelayStory quiet;
  CHECK(text(quiet.relay.cut(CloseReason::shutdown)) == "shutdown, client linger, backend linger");
  RelayStory busy({}, 16384);
  busy.get_stuck(busy.backend.peer, busy.client.socket);
  CHECK(text(busy.relay.cut(CloseReason::killed)) == "killed, client abort, backend linger");
  RelayStory upload({}, 16384);
  upload.get_stuck(upload.client.peer, upload.backend.socket);
  CHECK(text(upload.relay.cut(CloseReason::killed)) == "killed, client linger, backend abort");
}
