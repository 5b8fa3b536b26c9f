#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "tests/e2e/scene.h"

namespace weir::e2e {
namespace {

using core::CloseReason;
using core::DialOutcome;

CloseReason reset_by(Side side) {
  return side == Side::client ? CloseReason::client_reset : CloseReason::backend_reset;
}

TEST_CASE("RST: a reset in mid-session is passed on as a reset") {
  for (const Side side : {Side::client, Side::backend}) {
    Scene scene({});
    Ends ends = scene.open();
    end_of(ends, side).send(10);
    end_of(ends, other(side)).receive(10);
    const Stopwatch since_reset;
    end_of(ends, side).rst();
    end_of(ends, other(side)).expect_reset();
    since_reset.expect_at_most(50ms);
    scene.weir.expect_closed(reset_by(side));
    scene.weir.settle(scene.backend);
  }
}

TEST_CASE("RST: what was sent before a reset arrives before it, at the pace of the reader") {
  constexpr std::uint64_t kBytes = 300'000;
  for (const Side side : {Side::client, Side::backend}) {
    Scene scene({.client = {.receive = 16384}, .backend = {.receive = 16384}});
    Ends ends = scene.open();
    Stream& first = end_of(ends, side);
    first.send(kBytes);
    // The reset takes with it what weir's kernel has not received yet.
    const auto until = Clock::now() + patience();
    while (first.unacknowledged() > 0 && Clock::now() < until) silence(1ms);
    REQUIRE(first.unacknowledged() == 0);
    first.rst();
    silence(200ms);
    CHECK(end_of(ends, other(side)).receive_to_reset() == kBytes);
    const LogEntry entry = scene.weir.expect_closed(reset_by(side))[0];
    CHECK(entry.bytes_in + entry.bytes_out == kBytes);
    scene.weir.settle(scene.backend);
  }
}

TEST_CASE("RST: a peer that resets after its FIN is noticed at once") {
  for (const Side side : {Side::client, Side::backend}) {
    Scene scene({.timeouts = "idle: 1m, half_close: 1m"});
    Ends ends = scene.open();
    end_of(ends, side).send(10);
    end_of(ends, side).shutdown_write();
    CHECK(end_of(ends, other(side)).receive_to_end() == 10);
    const Stopwatch since_reset;
    end_of(ends, side).rst();
    // A backend that ended in good order has said all there was to say.
    scene.weir.expect_closed(side == Side::client ? CloseReason::client_reset
                                                  : CloseReason::backend_closed);
    since_reset.expect_at_most(50ms);
    scene.weir.settle(scene.backend);
  }
}

// Clients that send nothing, and a backend that has gone before weir may have looked.
void banner_and_gone(const Way& way, const std::function<void(Stream&)>& go, Ending ending) {
  constexpr std::size_t kClients = 50;
  INFO(way.text());
  Scene scene({.way = way});
  auto backend = meanwhile([&] {
    for (std::size_t i = 0; i < kClients; ++i) {
      Stream served = scene.backend.accept();
      served.say("banner");
      go(served);
    }
  });
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(scene.connect());
  for (Stream& client : clients) {
    client.hear("banner");
    CHECK(client.expect_ending() == ending);
    client.close();
  }
  backend.get();
  const CloseReason reason =
      ending == Ending::end ? CloseReason::backend_closed : CloseReason::backend_reset;
  for (const LogEntry& entry : scene.weir.expect_closed(reason, kClients)) {
    CHECK(entry.bytes_out == 6);
    CHECK(entry.attempts.size() == 1);
  }
  CHECK(scene.weir.snapshot().backend("servers", "b1").dials_that(DialOutcome::connected) ==
        kClients);
  scene.weir.settle(scene.backend);
}

TEST_CASE("RST-01: a backend that answers and closes in one go has served its client") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) {
    banner_and_gone(
        way, [](Stream& served) { served.close(); }, Ending::end);
  }
}

TEST_CASE("RST-01: a backend that answers and resets in one go has one verdict, and is heard") {
  banner_and_gone(
      kTcp, [](Stream& served) { served.rst(); }, Ending::reset);
}

// Clients that say something to a backend that does not answer, and then go or stay in some way.
void no_spinning(const std::function<void(Stream&)>& go, CloseReason reason) {
  constexpr std::size_t kClients = 20;
  Scene scene({.timeouts = "half_close: " + scaled_ms(2000ms)});
  std::vector<Ends> all;
  for (std::size_t i = 0; i < kClients; ++i) all.push_back(scene.open());
  for (Ends& ends : all) {
    ends.client.send(50);
    ends.backend.receive(50);
    go(ends.client);
  }
  silence(100ms);  // what follows the going at once is not the spinning that is looked for
  const milliseconds before = cpu_time();
  silence(1000ms);
  CHECK((cpu_time() - before).count() < (slow() ? 200 : 50));
  scene.weir.expect_closed(reason, kClients);
  scene.weir.settle(scene.backend);
}

TEST_CASE("RST-02: clients that close before an answer cost no CPU, and are gone by half_close") {
  no_spinning([](Stream& client) { client.close(); }, CloseReason::half_close_timeout);
}

TEST_CASE("RST-02: clients that reset before an answer cost no CPU") {
  no_spinning([](Stream& client) { client.rst(); }, CloseReason::client_reset);
}

TEST_CASE("RST-02: clients that half-close and stay cost no CPU, and are gone by half_close") {
  no_spinning([](Stream& client) { client.shutdown_write(); }, CloseReason::half_close_timeout);
}

// A peer vanishes while weir does not read it, because the other side does not either.
void vanishes_while_paused(const Way& way, Side side, const std::function<void(Stream&)>& vanish) {
  INFO(way.text());
  Scene scene({.way = way,
               .timeouts = "write_stall: " + scaled_ms(1200ms),
               .client = {.receive = 16384, .send = 65536},
               .backend = {.receive = 16384, .send = 65536}});
  Ends ends = scene.open();
  Stream& sender = end_of(ends, side);
  const Stopwatch since_stall;
  const std::uint64_t sent = sender.send_until_blocked(64 << 20);
  vanish(sender);
  const milliseconds before = cpu_time();
  silence(500ms);
  CHECK((cpu_time() - before).count() < (slow() ? 200 : 50));
  scene.weir.wait_until([](const admin::Snapshot& now) { return now.sessions == 0; }, "its end");
  since_stall.expect_at_most(scaled(1200ms) * 5 / 4 + 100ms);
  CHECK(scene.weir.snapshot().pool("servers").active == 0);
  const LogEntry entry = scene.weir.log(1)[0];
  CHECK((entry.reason == text(CloseReason::write_stall) || entry.reason == text(reset_by(side))));
  // What is missing must be seen to be missing.
  Stream& frozen = end_of(ends, other(side));
  const bool unix_end = (side == Side::client ? way.backend : way.client) == Way::Kind::unix_socket;
  if (unix_end) {
    // A unix socket knows no reset of what is written; it only ends.
    CHECK(frozen.receive_to_end() < sent);
  } else {
    CHECK(frozen.receive_to_reset() < sent);
  }
  scene.weir.settle(scene.backend);
}

TEST_CASE("RST-03: a client that resets while it is not read is gone within write_stall") {
  vanishes_while_paused(kTcp, Side::client, [](Stream& client) { client.rst(); });
}

TEST_CASE("RST-03: a client that closes while it is not read is gone within write_stall") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) {
    vanishes_while_paused(way, Side::client, [](Stream& client) { client.close(); });
  }
}

TEST_CASE("RST-03: a backend that resets or closes while it is not read is gone likewise") {
  vanishes_while_paused(kTcp, Side::backend, [](Stream& backend) { backend.rst(); });
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) {
    vanishes_while_paused(way, Side::backend, [](Stream& backend) { backend.close(); });
  }
}

}  // namespace
}  // namespace weir::e2e
