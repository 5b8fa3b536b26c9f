#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "tests/e2e/orders.h"
#include "tests/e2e/scene.h"

// However a session ends, it gives its slot back, once: for each reason of the closed list that
// this version has, a pool with one slot.
namespace weir::e2e {
namespace {

using core::CloseReason;

// A session that ends so, and the keys of the pool that it needs.
struct WayToEnd {
  std::string resilience = {};
  std::string timeouts = {};
  std::function<void(TestWeir&, Backend&)> play;
  bool served = true;               // the backend is well, and serves those who come after
  std::optional<int> backlog = {};  // 0: a black hole
};

Ends open(TestWeir& weir, Backend& backend) {
  Stream client = weir.connect();
  client.say("q");
  Stream accepted = backend.accept();
  accepted.hear("q");
  return {std::move(client), std::move(accepted)};
}

// Whoever comes is refused; `ends` to be closed after.
void be_refused(const TestWeir& weir) {
  Stream client = weir.connect();
  client.say("q");
  client.expect_end();
}

void peers_end(TestWeir& weir, Backend& backend, Side first, bool reset) {
  Ends ends = open(weir, backend);
  Stream& one = end_of(ends, first);
  reset ? one.rst() : one.close();
  end_of(ends, other(first)).expect_ending();
}

void weir_ends(TestWeir& weir, Backend& backend) {
  Ends ends = open(weir, backend);
  ends.client.expect_ending();
}

void find_nobody(TestWeir& weir, Backend& backend) {
  backend.close();
  be_refused(weir);
}

void find_a_black_hole(TestWeir& weir, Backend& backend) {
  backend.fill_queue();
  be_refused(weir);
}

std::optional<WayToEnd> way_to(CloseReason reason) {
  const std::string soon = scaled_ms(500ms);
  switch (reason) {
    case CloseReason::client_closed:
    case CloseReason::client_reset:
      return WayToEnd{.play = [reason](TestWeir& weir, Backend& backend) {
        peers_end(weir, backend, Side::client, reason == CloseReason::client_reset);
      }};
    case CloseReason::backend_closed:
    case CloseReason::backend_reset:
      return WayToEnd{.play = [reason](TestWeir& weir, Backend& backend) {
        peers_end(weir, backend, Side::backend, reason == CloseReason::backend_reset);
      }};
    case CloseReason::idle_timeout:
      return WayToEnd{.timeouts = fmt::format("idle: {}, half_close: {}", soon, soon),
                      .play = weir_ends};
    case CloseReason::half_close_timeout:
      return WayToEnd{.timeouts = "half_close: " + soon,
                      .play = [](TestWeir& weir, Backend& backend) {
                        Ends ends = open(weir, backend);
                        ends.client.shutdown_write();
                        ends.client.expect_ending();
                      }};
    case CloseReason::write_stall:
      return WayToEnd{.timeouts = "write_stall: " + soon,
                      .play = [](TestWeir& weir, Backend& backend) {
                        Ends ends = open(weir, backend);
                        ends.client.send_until_reset();
                      }};
    case CloseReason::session_timeout:
      return WayToEnd{.timeouts = "session: " + soon, .play = weir_ends};
    case CloseReason::first_byte_timeout:
      return WayToEnd{.resilience = ", circuit_success: first_byte, first_byte_timeout: " + soon,
                      .play = weir_ends};
    case CloseReason::pending_timeout:
    case CloseReason::client_left_queue:
      return WayToEnd{
          .resilience = ", max_pending_requests: 1, pending_timeout: " +
                        (reason == CloseReason::pending_timeout ? soon : "30s"),
          .play = [reason](TestWeir& weir, Backend& backend) {
            const Ends holder = open(weir, backend);
            Stream waiter = weir.connect();
            weir.wait_until(
                [](const admin::Snapshot& now) { return now.pool("servers").pending == 1; },
                "it waits");
            reason == CloseReason::pending_timeout ? waiter.expect_end() : waiter.close();
            weir.wait_until(
                [](const admin::Snapshot& now) { return now.pool("servers").pending == 0; },
                "it has left");
          }};
    case CloseReason::proxy_overloaded:
      return WayToEnd{.play = [](TestWeir& weir, Backend& backend) {
        const Ends holder = open(weir, backend);
        be_refused(weir);
      }};
    case CloseReason::source_limit:
    case CloseReason::listener_full:
      return WayToEnd{.play = [](TestWeir& weir, Backend& backend) {
        const Ends first = open(weir, backend);
        Stream second = weir.connect();  // refused by the pool, and held by its linger
        second.expect_end();
        be_refused(weir);
      }};
    case CloseReason::access_denied:
      return WayToEnd{.play =
                          [](TestWeir& weir, Backend&) {
                            Stream client = weir.connect();
                            client.expect_end();
                            client.close();
                          },
                      .served = false};
    case CloseReason::upstream_connect_failed:
      return WayToEnd{.resilience = ", max_fails: 1000", .play = find_nobody, .served = false};
    case CloseReason::circuit_open:
      return WayToEnd{.resilience = ", max_fails: 1, fail_timeout: 60s",
                      .play =
                          [](TestWeir& weir, Backend& backend) {
                            find_nobody(weir, backend);
                            be_refused(weir);
                          },
                      .served = false};
    case CloseReason::upstream_timeout:
      return WayToEnd{.resilience = ", max_fails: 1000",
                      .timeouts = "connect: " + soon,
                      .play = find_a_black_hole,
                      .served = false,
                      .backlog = 0};
    case CloseReason::retry_deadline_exhausted:
      return WayToEnd{.resilience = ", max_fails: 1000, retry_deadline: " + soon,
                      .timeouts = "connect: 5m",
                      .play = find_a_black_hole,
                      .served = false,
                      .backlog = 0};
    case CloseReason::retry_budget_exhausted:
      return WayToEnd{
          .resilience = ", max_fails: 1000, retry_attempts: 10, retry_budget_percent: 1",
          .play = find_nobody,
          .served = false};
    case CloseReason::killed:
      return WayToEnd{.play = [](TestWeir& weir, Backend& backend) {
        Ends ends = open(weir, backend);
        CHECK(kill_all(weir, "b1") == 1);
        ends.client.expect_ending();
        ends.backend.expect_ending();
      }};
    case CloseReason::backend_drained:
      return WayToEnd{.play = [](TestWeir& weir, Backend& backend) {
        Ends ends = open(weir, backend);
        CHECK(drain(weir, "b1", 0ms));
        ends.client.expect_ending();
        ends.backend.expect_ending();
        CHECK(enable(weir, "b1"));
      }};
    case CloseReason::shutdown:
      return WayToEnd{.play =
                          [](TestWeir& weir, Backend& backend) {
                            Ends ends = open(weir, backend);
                            weir.drain();
                            ends.client.expect_ending();
                          },
                      .served = false};
    // Ends before it has a slot, or by what this version does not have; capacity, local errors and
    // a pool without anybody to dial are in limits_test.cc, dial_address_test.cc and
    // health_test.cc.
    case CloseReason::no_route:
    case CloseReason::upstream_unavailable:
    case CloseReason::backend_at_capacity:
    case CloseReason::upstream_tls_identity:
    case CloseReason::upstream_tls_failed:
    case CloseReason::preface_timeout:
    case CloseReason::preface_malformed:
    case CloseReason::preface_too_large:
    case CloseReason::unknown_server_name:
    case CloseReason::tls_handshake_failed:
    case CloseReason::local_error:
      return std::nullopt;
  }
  return std::nullopt;
}

// Exactly one is served at a time.
void expect_one_slot(TestWeir& weir, Backend& backend) {
  Ends ends = open(weir, backend);
  CHECK(weir.snapshot().pool("servers").active == 1);
  const auto overloaded = [&weir] {
    return weir.snapshot().listener("front").closed_as(CloseReason::proxy_overloaded);
  };
  const auto before = overloaded();
  be_refused(weir);
  weir.wait_until([&](const admin::Snapshot&) { return overloaded() == before + 1; },
                  "nobody else is served");
  ends.client.close();
  ends.backend.expect_ending();
}

void ends_as(CloseReason reason) {
  const auto way = way_to(reason);
  if (!way) return;
  INFO(text(reason));
  Backend backend("127.0.0.1", {}, way->backlog.value_or(Backend::kBacklog));
  const bool queue = way->resilience.find("max_pending_requests") != std::string::npos;
  Setup setup;
  setup.resilience = "max_active_requests: 1" + way->resilience;
  setup.circuit = way->resilience.find("max_fails") != std::string::npos ||
                  reason == CloseReason::first_byte_timeout;
  if (reason == CloseReason::first_byte_timeout) setup.resilience += ", max_fails: 1000";
  setup.timeouts = way->timeouts;
  setup.backends = {backend.address()};
  if (reason == CloseReason::listener_full) setup.max_connections = 2;
  if (reason == CloseReason::source_limit) setup.listener = "max_connections_per_source: 2";
  if (reason == CloseReason::access_denied) setup.listener = "deny: [127.0.0.0/8]";
  TestWeir weir(setup.yaml());
  way->play(weir, backend);
  weir.wait_until(
      [reason](const admin::Snapshot& now) {
        return now.listener("front").closed_as(reason) > 0 && now.pool("servers").active == 0;
      },
      "it ends, and its slot is back");
  if (!way->served) return;
  if (!queue) expect_one_slot(weir, backend);
  weir.settle();
}

TEST_CASE("ST: however a session ends, its slot is given back once") {
  for (std::size_t i = 0; i < core::kCloseReasons; ++i) ends_as(static_cast<CloseReason>(i));
}

}  // namespace
}  // namespace weir::e2e
