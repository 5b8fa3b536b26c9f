#include <doctest/doctest.h>

#include <vector>

#include "tests/e2e/scene.h"

namespace weir::e2e {
namespace {

using core::CloseReason;

CloseReason ended_by(Side side) {
  return side == Side::client ? CloseReason::client_closed : CloseReason::backend_closed;
}

// The first side sends and ends; the other answers later.
void asks_and_ends(const Way& way, Side side) {
  INFO(way.text());
  Scene scene({.way = way});
  Ends ends = scene.open();
  Stream& first = end_of(ends, side);
  Stream& second = end_of(ends, other(side));
  first.send(1000);
  const Stopwatch fin;
  first.shutdown_write();
  CHECK(second.receive_to_end() == 1000);
  fin.expect_at_most(50ms);
  silence(300ms);
  second.say("got 1000");
  second.close();
  first.hear("got 1000");
  first.expect_end();

  const LogEntry entry = scene.weir.expect_closed(ended_by(side))[0];
  CHECK(entry.bytes_in == (side == Side::client ? 1000 : 8));
  CHECK(entry.bytes_out == (side == Side::client ? 8 : 1000));
  scene.weir.settle(scene.backend);
}

TEST_CASE("HC-01: a client's FIN comes after all its bytes, and the answer comes after the FIN") {
  for (const Way& way : {kTcp, kIpv6, kUnixClient, kUnixBackend}) asks_and_ends(way, Side::client);
}

TEST_CASE("HC-01: a backend's FIN comes after all its bytes, and the answer comes after the FIN") {
  for (const Way& way : {kTcp, kIpv6, kUnixClient, kUnixBackend}) asks_and_ends(way, Side::backend);
}

// The mirror image of the script: what is sent for a while into a session that is half closed.
TEST_CASE("HC-01: a side that has ended goes on receiving as long as the other one sends") {
  for (const Side side : {Side::client, Side::backend}) {
    Scene scene({.timeouts = "half_close: " + scaled_ms(1000ms)});
    Ends ends = scene.open();
    Stream& first = end_of(ends, side);
    Stream& second = end_of(ends, other(side));
    first.send(1000);
    first.shutdown_write();
    CHECK(second.receive_to_end() == 1000);
    for (int i = 0; i < 10; ++i) {
      second.send(100);
      first.receive(100);
      silence(30ms);
    }
    second.close();
    first.expect_end();
    scene.weir.expect_closed(ended_by(side));
    scene.weir.settle(scene.backend);
  }
}

// One side sends much and ends; the other, whose buffer is small, reads at its own pace.
TEST_CASE("HC-01: megabytes before a FIN arrive before it at the pace of the reader") {
  constexpr std::uint64_t kBytes = 5'000'000;
  for (const Side side : {Side::client, Side::backend}) {
    Scene scene({.client = {.receive = 16384}, .backend = {.receive = 16384}});
    Ends ends = scene.open();
    auto sending = meanwhile([&first = end_of(ends, side)] {
      first.send(kBytes);
      first.shutdown_write();
    });
    silence(300ms);
    CHECK(end_of(ends, other(side)).receive_to_end() == kBytes);
    sending.get();
    end_of(ends, other(side)).close();
    end_of(ends, side).expect_end();
    const LogEntry entry = scene.weir.expect_closed(ended_by(side))[0];
    CHECK(entry.bytes_in == (side == Side::client ? kBytes : 0));
    CHECK(entry.bytes_out == (side == Side::client ? 0 : kBytes));
    scene.weir.settle(scene.backend);
  }
}

TEST_CASE("HC-01: many half-closed sessions on several workers all get their answers") {
  Scene scene({.workers = 4});
  std::vector<Ends> all;
  for (int i = 0; i < 60; ++i) all.push_back(scene.open());
  for (Ends& ends : all) {
    ends.client.send(1000);
    ends.client.shutdown_write();
  }
  for (Ends& ends : all) {
    CHECK(ends.backend.receive_to_end() == 1000);
    ends.backend.send(70'000);
    ends.backend.close();
  }
  for (Ends& ends : all) CHECK(ends.client.receive_to_end() == 70'000);
  for (const LogEntry& entry : scene.weir.expect_closed(CloseReason::client_closed, all.size())) {
    CHECK(entry.bytes_in == 1000);
    CHECK(entry.bytes_out == 70'000);
  }
  scene.weir.settle(scene.backend);
}

std::string half_close_400() { return "idle: 10s, half_close: " + scaled_ms(400ms); }

void ends_and_the_other_is_silent(const Way& way, Side side) {
  INFO(way.text());
  Scene scene({.way = way, .timeouts = half_close_400()});
  Ends ends = scene.open();
  Stream& first = end_of(ends, side);
  Stream& second = end_of(ends, other(side));
  first.send(10);
  const Stopwatch since_end;
  first.shutdown_write();
  CHECK(second.receive_to_end() == 10);
  first.expect_end();  // weir's, once it has given up
  since_end.expect_between(scaled(400ms), scaled(500ms));
  scene.weir.expect_closed(CloseReason::half_close_timeout);
  scene.weir.settle(scene.backend);
}

TEST_CASE("HC-02: after a FIN a silent pair is ended by half_close, not by idle") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) {
    ends_and_the_other_is_silent(way, Side::backend);
    ends_and_the_other_is_silent(way, Side::client);
  }
}

// A peer that closes altogether looks the same as one that only ends, as long as it is sent
// nothing.
TEST_CASE("HC-02: a backend that closes does not leave its silent client's sockets behind") {
  for (const Side side : {Side::backend, Side::client}) {
    Scene scene({.timeouts = half_close_400()});
    Ends ends = scene.open();
    end_of(ends, side).send(10);
    const Stopwatch since_close;
    end_of(ends, side).close();
    CHECK(end_of(ends, other(side)).receive_to_end() == 10);
    scene.weir.expect_closed(CloseReason::half_close_timeout);
    since_close.expect_between(scaled(400ms), scaled(500ms));
    scene.weir.settle(scene.backend);
  }
}

TEST_CASE("HC-02: the live direction keeps a half-closed session open while bytes flow") {
  for (const Side side : {Side::backend, Side::client}) {
    Scene scene({.timeouts = "idle: 10s, half_close: " + scaled_ms(800ms)});
    Ends ends = scene.open();
    Stream& first = end_of(ends, side);
    Stream& second = end_of(ends, other(side));
    first.send(10);
    first.shutdown_write();
    CHECK(second.receive_to_end() == 10);
    Stopwatch since_last;
    for (int i = 0; i < 12; ++i) {
      silence(scaled(100ms));
      since_last.restart();
      second.send(1);
      first.receive(1);
    }
    first.expect_end();
    since_last.expect_between(scaled(800ms), scaled(900ms));
    scene.weir.expect_closed(CloseReason::half_close_timeout);
    scene.weir.settle(scene.backend);
  }
}

TEST_CASE("HC-02: half_close 0 bounds the silence after a FIN by idle") {
  Scene scene({.timeouts = "half_close: 0s, idle: " + scaled_ms(400ms)});
  Ends ends = scene.open();
  const Stopwatch since_end;
  ends.backend.shutdown_write();
  ends.client.expect_end();
  ends.backend.expect_end();
  since_end.expect_between(scaled(400ms), scaled(500ms));
  scene.weir.expect_closed(CloseReason::half_close_timeout);
  scene.weir.settle(scene.backend);
}

}  // namespace
}  // namespace weir::e2e
