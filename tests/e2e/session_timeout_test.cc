#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/e2e/scene.h"

namespace weir::e2e {
namespace {

using core::CloseReason;

TEST_CASE("session bounds a whole session, busy or not, and ends it in good order") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) {
    INFO(way.text());
    Scene scene({.way = way, .timeouts = "session: " + scaled_ms(500ms)});
    const Stopwatch since_start;
    Ends ends = scene.open();
    auto backend = meanwhile([&] { return ends.backend.receive_to_end(); });
    while (since_start.elapsed() < scaled(300ms)) {
      ends.client.send(1);
      silence(5ms);
    }
    ends.client.expect_end();
    since_start.expect_between(scaled(450ms), scaled(500ms));
    CHECK(backend.get() == ends.client.sent());
    ends.client.close();
    ends.backend.close();
    const LogEntry entry = scene.weir.expect_closed(CloseReason::session_timeout)[0];
    CHECK(entry.bytes_in == ends.client.sent());
    scene.weir.settle();
  }
}

// How long each of some sessions lasted that began together, in ms.
std::vector<double> lasted(std::size_t sessions) {
  Scene scene({.timeouts = "session: " + scaled_ms(1000ms)});
  std::vector<Ends> all;
  for (std::size_t i = 0; i < sessions; ++i) all.push_back(scene.open());
  for (Ends& ends : all) {
    ends.client.expect_end();
    ends.client.close();
    ends.backend.close();
  }
  std::vector<double> result;
  for (const LogEntry& entry : scene.weir.expect_closed(CloseReason::session_timeout, sessions)) {
    result.push_back(entry.duration_ms);
  }
  scene.weir.settle(scene.backend);
  return result;
}

TEST_CASE("session is shortened by up to a tenth at random, each session by its own") {
  // Of 30 numbers between 0 and 100 the chance to lie within 40 of each other is 1 in 10^10. But a
  // machine that stands still for a while ends all of them at once: then once more.
  double spread = 0;
  for (int round = 0; round < 5 && spread < 40; ++round) {
    const std::vector<double> all = lasted(30);
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    CHECK(*least > static_cast<double>(scaled(900ms).count()) - 15);
    CHECK(*most < static_cast<double>(at_most(scaled(1000ms)).count()));
    spread = (*most - *least) / static_cast<double>(scaled(1ms).count());
  }
  CHECK(spread > 40);
}

TEST_CASE("a session that is cut while its reader is behind is seen to be incomplete") {
  Scene scene(
      {.timeouts = "linger: 100ms, session: " + scaled_ms(1500ms), .client = {.receive = 16384}});
  Ends ends = scene.open();
  const Stopwatch since_start;
  const std::uint64_t sent = ends.backend.send_until_blocked(64 << 20);
  scene.weir.expect_closed(CloseReason::session_timeout);
  since_start.expect_at_most(scaled(1500ms) + 200ms);
  CHECK(ends.client.receive_to_reset() < sent);
  scene.weir.settle();
}

// After weir's own end a peer may still send for `linger`, without a reset.
TEST_CASE("linger lets a peer that still sends read its end in peace, and then closes") {
  for (const Side side : {Side::client, Side::backend}) {
    Scene scene({.timeouts = "session: " + scaled_ms(300ms) + ", linger: " + scaled_ms(500ms)});
    const Stopwatch since_start;
    Ends ends = scene.open();
    Stream& talker = end_of(ends, side);
    while (talker.try_send_byte()) silence(10ms);
    since_start.expect_between(scaled(270ms + 500ms), scaled(800ms) + 100ms);
    scene.weir.expect_closed(CloseReason::session_timeout);
    scene.weir.settle();
  }
}

TEST_CASE("linger 0 closes at once, whatever a peer still sends") {
  Scene scene({.timeouts = "session: " + scaled_ms(300ms) + ", linger: 0s"});
  const Stopwatch since_start;
  Ends ends = scene.open();
  while (ends.client.try_send_byte()) silence(10ms);
  since_start.expect_between(scaled(270ms), scaled(300ms) + 100ms);
  scene.weir.expect_closed(CloseReason::session_timeout);
  scene.weir.settle();
}

TEST_CASE("linger is not spent on peers that are silent and have received everything") {
  Scene scene({.timeouts = "linger: 1m, idle: " + scaled_ms(300ms)});
  const Stopwatch since_start;
  Ends ends = scene.open();
  ends.backend.send(100'000);
  ends.client.receive(100'000);
  scene.weir.expect_closed(CloseReason::idle_timeout);
  since_start.expect_between(scaled(300ms), scaled(300ms) + 100ms);
  ends.client.expect_end();
  ends.backend.expect_end();
  scene.weir.settle();
}

}  // namespace
}  // namespace weir::e2e
