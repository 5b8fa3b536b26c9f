#include <doctest/doctest.h>

#include <vector>

#include "tests/e2e/scene.h"

namespace weir::e2e {
namespace {

using core::CloseReason;
using core::DialOutcome;

// What clients send before they see that they are refused.
constexpr std::uint64_t kBytesBefore[] = {0, 5, 100'000};

// A client that is refused sees an end in good order, never a reset: also when it has sent
// something that nobody reads, and when it goes on sending afterwards.
void sees_a_clean_end(Stream& client, std::uint64_t sends_first) {
  if (sends_first > 0) client.send(sends_first);
  client.expect_end();
  for (int i = 0; i < 5; ++i) {
    client.send(100);
    silence(10ms);
  }
  client.expect_end();
  client.close();
}

TEST_CASE("refusal: a client over max_connections sees a clean end, whatever it sends") {
  for (const Way& way : {kTcp, kIpv6, kUnixClient}) {
    INFO(way.text());
    Scene scene({.way = way, .max_connections = 1});
    Ends admitted = scene.open();
    for (const std::uint64_t bytes : kBytesBefore) {
      Stream refused = scene.connect();
      sees_a_clean_end(refused, bytes);
    }
    CHECK(!scene.backend.has_waiting());
    const Stopwatch since_left;
    for (const LogEntry& entry : scene.weir.expect_closed(CloseReason::listener_full, 3)) {
      CHECK(entry.attempts.empty());
      CHECK(entry.bytes_in == 0);
    }
    since_left.expect_at_most(50ms);
    admitted.client.send(10);
    admitted.backend.receive(10);
    admitted.client.close();
    admitted.backend.expect_end();
    admitted.backend.close();
    scene.weir.settle(scene.backend);
  }
}

TEST_CASE("refusal: max_connections is exact on four workers") {
  constexpr int kLimit = 10;
  constexpr std::size_t kAdmitted = kLimit;
  constexpr std::size_t kClients = 60;
  Scene scene({.workers = 4, .max_connections = kLimit});
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(scene.connect());
  std::vector<Stream> served;
  for (std::size_t i = 0; i < kAdmitted; ++i) {
    served.push_back(scene.backend.accept());
    served.back().say("served");
  }
  const admin::Snapshot now = scene.weir.wait_until(
      [](const admin::Snapshot& state) { return state.listener("front").accepted == kClients; },
      "everybody is accepted");
  CHECK(now.listener("front").connections == kAdmitted);
  for (Stream& each : served) each.shutdown_write();
  std::size_t heard = 0;
  for (Stream& client : clients) {
    if (client.hear_if_anything("served")) ++heard;
    client.expect_end();
    client.close();
  }
  CHECK(heard == kAdmitted);
  scene.weir.wait_until([](const admin::Snapshot& state) { return state.sessions == 0; },
                        "the end");
  CHECK(scene.weir.snapshot().listener("front").closed_as(CloseReason::listener_full) ==
        kClients - kAdmitted);
  CHECK(!scene.backend.has_waiting());
  scene.weir.settle(scene.backend);
}

void no_backend(const std::vector<std::string>& bind, const std::string& address, int workers) {
  TestWeir weir(Setup{.workers = workers, .bind = bind, .backends = {address}}.yaml());
  std::size_t clients = 0;
  for (const std::uint64_t bytes : kBytesBefore) {
    Stream client = weir.connect();
    sees_a_clean_end(client, bytes);
    ++clients;
  }
  const Stopwatch since_left;
  for (const LogEntry& entry : weir.expect_closed(CloseReason::upstream_connect_failed, clients)) {
    REQUIRE(entry.attempts.size() == 1);
    CHECK(entry.attempts[0].outcome == "refused");
    CHECK(entry.bytes_in == 0);
  }
  since_left.expect_at_most(50ms);
  CHECK(weir.snapshot().backend("servers", "b1").dials_that(DialOutcome::refused) == clients);
  weir.settle();
}

TEST_CASE("refusal: a client whose backend refuses the dial sees a clean end, whatever it sends") {
  const DeadPort dead;
  const Folder folder;
  no_backend({"127.0.0.1:1"}, dead.address(), 1);
  no_backend({"127.0.0.1:1"}, dead.address(), 2);
  no_backend({folder.unix_socket("front")}, dead.address(), 1);
  no_backend({"127.0.0.1:1"}, folder.unix_socket("nobody"), 1);
}

// A backend that refuses after a while, so that the client's bytes are there before the refusal.
TEST_CASE("refusal: after a dial that timed out the end is clean too") {
  Scene scene({.timeouts = "connect: " + scaled_ms(200ms), .backlog = 0});
  scene.backend.fill_queue();
  Stream client = scene.connect();
  sees_a_clean_end(client, 100'000);
  const Stopwatch since_left;
  scene.weir.expect_closed(CloseReason::upstream_timeout);
  since_left.expect_at_most(50ms);
  scene.backend.empty_queue();
  scene.weir.settle(scene.backend);
}

TEST_CASE("refusal: a refused client that stays is let go after linger") {
  Scene scene({.max_connections = 1, .timeouts = "linger: " + scaled_ms(500ms)});
  Ends admitted = scene.open();
  const Stopwatch since_start;
  Stream refused = scene.connect();
  refused.expect_end();
  // Until then it costs nothing, and the same worker serves the others.
  const Stopwatch others;
  admitted.client.send(10);
  admitted.backend.receive(10);
  others.expect_at_most(10ms);
  const milliseconds before = cpu_time();
  silence(300ms);
  CHECK((cpu_time() - before).count() < (slow() ? 200 : 50));
  scene.weir.expect_closed(CloseReason::listener_full);
  since_start.expect_between(scaled(500ms), scaled(550ms));
  admitted.client.close();
  admitted.backend.expect_end();
  admitted.backend.close();
  scene.weir.settle(scene.backend);
}

}  // namespace
}  // namespace weir::e2e
