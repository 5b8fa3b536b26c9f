#include <doctest/doctest.h>

#include "tests/e2e/scene.h"

namespace weir::e2e {
namespace {

using core::CloseReason;

std::string idle(milliseconds time) { return "idle: " + scaled_ms(time); }

TEST_CASE("TO-01: traffic in one direction alone keeps a session from being idle") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) {
    for (const Side side : {Side::backend, Side::client}) {
      INFO(way.text());
      Scene scene({.way = way, .timeouts = idle(1500ms)});
      Ends ends = scene.open();
      for (int i = 0; i < 20; ++i) {
        end_of(ends, side).send(1);
        end_of(ends, other(side)).receive(1);
        silence(scaled(100ms));
      }
      end_of(ends, other(side)).send(1);
      end_of(ends, side).receive(1);
      end_of(ends, side).close();
      end_of(ends, other(side)).expect_end();
      end_of(ends, other(side)).close();
      scene.weir.expect_closed(side == Side::client ? CloseReason::client_closed
                                                    : CloseReason::backend_closed);
      scene.weir.settle(scene.backend);
    }
  }
}

void silent_pair(const Way& way, int workers, bool after_traffic) {
  INFO(way.text());
  Scene scene({.way = way, .workers = workers, .timeouts = idle(300ms)});
  Stopwatch since_last;
  Ends ends = scene.open();
  if (after_traffic) {
    silence(scaled(150ms));
    since_last.restart();
    ends.client.send(10);
    ends.backend.receive(10);
  }
  ends.client.expect_end();
  since_last.expect_between(scaled(300ms), scaled(380ms));
  ends.backend.expect_end();
  const LogEntry entry = scene.weir.expect_closed(CloseReason::idle_timeout)[0];
  CHECK(entry.bytes_in == (after_traffic ? 10 : 0));
  CHECK(entry.first_byte_ms.has_value() == false);
  ends.client.close();
  ends.backend.close();
  scene.weir.settle(scene.backend);
}

TEST_CASE("TO-01: a silent pair is ended in good order when idle has passed") {
  for (const Way& way : {kTcp, kIpv6, kUnixClient, kUnixBackend}) silent_pair(way, 1, false);
  silent_pair(kTcp, 2, false);
}

TEST_CASE("TO-01: idle counts from the last byte") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) silent_pair(way, 1, true);
}

TEST_CASE("idle 0 means no bound, for the silence after a FIN with half_close 0 as well") {
  Scene scene({.timeouts = "idle: 0s, half_close: 0s, write_stall: 0s"});
  Ends ends = scene.open();
  silence(1000ms);
  ends.client.send(10);
  ends.backend.receive(10);
  ends.client.shutdown_write();
  ends.backend.expect_end();
  silence(1000ms);
  ends.backend.send(10);
  ends.client.receive(10);
  ends.backend.close();
  ends.client.expect_end();
  scene.weir.expect_closed(CloseReason::client_closed);
  scene.weir.settle(scene.backend);
}

// The reader is frozen while the other side goes on sending: bytes that only entered our buffers,
// or the kernel's, are no sign of life.
void frozen_reader(const Way& way, Side reader, const std::string& timeouts) {
  INFO(way.text());
  Scene scene({.way = way,
               .timeouts = timeouts,
               .client = {.receive = 16384},
               .backend = {.receive = 16384}});
  Ends ends = scene.open();
  Stream& sender = end_of(ends, other(reader));
  const Stopwatch since_start;
  const std::uint64_t sent = sender.send_until_reset();
  since_start.expect_between(scaled(600ms), scaled(600ms) * 5 / 4 + 200ms);

  const LogEntry entry = scene.weir.expect_closed(CloseReason::write_stall)[0];
  const std::uint64_t passed_on = reader == Side::client ? entry.bytes_out : entry.bytes_in;
  CHECK(passed_on > 0);
  CHECK(passed_on < sent);
  // What is missing must be seen to be missing.
  CHECK(end_of(ends, reader).receive_to_reset() <= passed_on);
  scene.weir.settle(scene.backend);
}

TEST_CASE("TO-01: a client that takes nothing is cut off by write_stall, and not kept by idle") {
  frozen_reader(kTcp, Side::client, idle(300ms) + ", write_stall: " + scaled_ms(600ms));
}

TEST_CASE("write_stall bounds a backend that takes nothing") {
  frozen_reader(kTcp, Side::backend, idle(300ms) + ", write_stall: " + scaled_ms(600ms));
  frozen_reader(kIpv6, Side::backend, "write_stall: " + scaled_ms(600ms));
}

TEST_CASE("write_stall 0 bounds a reader that takes nothing by idle") {
  frozen_reader(kTcp, Side::client, idle(600ms) + ", write_stall: 0s");
  frozen_reader(kTcp, Side::backend, idle(600ms) + ", write_stall: 0s");
}

TEST_CASE("write_stall leaves a slow reader alone that takes something now and then") {
  constexpr std::uint64_t kPiece = 131072;
  for (const Side reader : {Side::client, Side::backend}) {
    Scene scene({.timeouts = idle(300ms) + ", write_stall: " + scaled_ms(600ms)});
    Ends ends = scene.open();
    Stream& sender = end_of(ends, other(reader));
    auto sending = meanwhile([&sender] {
      sender.send(16 << 20);
      sender.shutdown_write();
    });
    for (int i = 0; i < 10; ++i) {
      silence(scaled(200ms));
      end_of(ends, reader).receive(kPiece);
    }
    CHECK(end_of(ends, reader).receive_to_end() == (16 << 20) - 10 * kPiece);
    sending.get();
    end_of(ends, reader).close();
    scene.weir.expect_closed(reader == Side::client ? CloseReason::backend_closed
                                                    : CloseReason::client_closed);
    scene.weir.settle(scene.backend);
  }
}

}  // namespace
}  // namespace weir::e2e
