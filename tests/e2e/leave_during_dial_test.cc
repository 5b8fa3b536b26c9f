#include <doctest/doctest.h>

#include <functional>

#include "tests/e2e/scene.h"

namespace weir::e2e {
namespace {

using core::CloseReason;

// A backend whose accept queue is full: dials hang until it is emptied. A SYN that found no room is
// sent again after a second, so a dial is given more than that.
Scene::Options dial_hangs(const Way& way) {
  return {.way = way, .timeouts = "connect: " + scaled_ms(4000ms), .backlog = 0};
}

void wait_for_dial(const Scene& scene) {
  scene.weir.wait_until(
      [](const admin::Snapshot& now) { return now.backend("servers", "b1").dialing == 1; },
      "the dial");
}

// The client does something during the dial that means that it has left.
void leaves(const Way& way, CloseReason reason, const std::function<void(Stream&)>& leave) {
  INFO(way.text());
  Scene scene(dial_hangs(way));
  scene.backend.fill_queue();
  Stream client = scene.connect();
  wait_for_dial(scene);
  const Stopwatch since_leaving;
  leave(client);
  const LogEntry entry = scene.weir.expect_closed(reason)[0];
  since_leaving.expect_at_most(50ms);
  CHECK(scene.weir.snapshot().pool("servers").active == 0);
  REQUIRE(entry.attempts.size() == 1);
  CHECK(entry.attempts[0].outcome == "cancelled");
  CHECK(!entry.connect_ms);
  CHECK(entry.bytes_in == 0);

  // The backend never sees this connection, or sees it reset at once: one dial a backend may go on
  // alone for its verdict.
  scene.backend.empty_queue();
  scene.weir.wait_until(
      [](const admin::Snapshot& now) { return now.backend("servers", "b1").dialing == 0; },
      "no dial is left");
  if (scene.backend.has_waiting()) scene.backend.accept().expect_reset();
  scene.weir.settle(scene.backend);
}

TEST_CASE("HC-04: a client that closes during the dial without a byte ends the session at once") {
  for (const Way& way : {kTcp, kIpv6, kUnixClient}) {
    leaves(way, CloseReason::client_closed, [](Stream& client) { client.close(); });
  }
}

TEST_CASE("HC-04: a client that resets during the dial ends the session at once") {
  leaves(kTcp, CloseReason::client_reset, [](Stream& client) { client.rst(); });
  leaves(kTcp, CloseReason::client_reset, [](Stream& client) {
    client.send(100);
    client.rst();
  });
}

TEST_CASE("HC-04: a FIN without a byte during the dial means that the client has left") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) {
    leaves(way, CloseReason::client_closed, [](Stream& client) { client.shutdown_write(); });
  }
}

TEST_CASE("HC-04: on a unix socket a full close means so even after bytes") {
  leaves(kUnixClient, CloseReason::client_closed, [](Stream& client) {
    client.send(1000);
    client.close();
  });
}

// A FIN after bytes keeps the dial going: the client may wait for an answer.
void sends_and_ends(const Way& way, bool closes) {
  INFO(way.text());
  Scene scene(dial_hangs(way));
  scene.backend.fill_queue();
  Stream client = scene.connect();
  wait_for_dial(scene);
  client.send(65536);
  if (closes) {
    client.close();
  } else {
    client.shutdown_write();
  }
  silence(300ms);
  scene.backend.empty_queue();
  Stream backend = scene.backend.accept();
  CHECK(backend.receive_to_end() == 65536);
  if (!closes) {
    backend.send(1000);
    backend.close();
    CHECK(client.receive_to_end() == 1000);
  }
  backend.close();
  const LogEntry entry = scene.weir.expect_closed(CloseReason::client_closed)[0];
  CHECK(entry.bytes_in == 65536);
  CHECK(entry.bytes_out == (closes ? 0 : 1000));
  scene.weir.settle(scene.backend);
}

TEST_CASE("HC-04: what a client sent before it closed during the dial arrives whole") {
  for (const Way& way : {kTcp, kIpv6, kUnixBackend}) sends_and_ends(way, true);
}

TEST_CASE("HC-04: a client that sent and half-closed during the dial gets its answer") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) sends_and_ends(way, false);
}

}  // namespace
}  // namespace weir::e2e
