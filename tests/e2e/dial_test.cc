#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// Which backends a client's dial goes to, one after the other, and how it ends when none answers.
namespace weir::e2e {
namespace {

using core::CloseReason;
using core::DialOutcome;

// `b1 refused, b2 connected`
std::string attempts_of(const LogEntry& entry) {
  std::string text;
  for (const LogEntry::Attempt& each : entry.attempts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.backend, each.outcome);
  }
  return text;
}

// A client that is turned away.
void client_ends(const TestWeir& weir) {
  Stream client = weir.connect();
  client.say("question");
  client.expect_end();
  client.close();
}

void client_is_served(const TestWeir& weir) {
  Stream client = weir.connect();
  ask(client);
  client.close();
}

TEST_CASE("dial: after a refusal the next backend is tried, and the log has both in order") {
  const DeadPort dead;
  Service service;
  for (const int workers : {1, 2}) {
    TestWeir weir(Setup{.workers = workers,
                        .pool = "balance: first",
                        .backends = {dead.address(), service.address()}}
                      .yaml());
    for (int i = 0; i < 5; ++i) client_is_served(weir);
    for (const LogEntry& entry : weir.expect_closed(CloseReason::client_closed, 5)) {
      CHECK(attempts_of(entry) == "b1 refused, b2 connected");
      CHECK(entry.attempts[0].address == dead.address());
      CHECK(entry.attempts[1].address == service.address());
      CHECK(entry.backend == "b2");
      CHECK(entry.address == service.address());
    }
    const admin::Snapshot now = weir.snapshot();
    CHECK(now.backend("servers", "b1").dials_that(DialOutcome::refused) == 5);
    CHECK(now.backend("servers", "b2").dials_that(DialOutcome::connected) == 5);
    weir.settle();
  }
}

TEST_CASE("dial: when all refuse, each has been tried once") {
  const DeadPort one;
  const DeadPort two;
  const DeadPort three;
  TestWeir weir(Setup{.backends = {one.address(), two.address(), three.address()}}.yaml());
  for (int i = 0; i < 5; ++i) client_ends(weir);
  for (const LogEntry& entry : weir.expect_closed(CloseReason::upstream_connect_failed, 5)) {
    REQUIRE(entry.attempts.size() == 3);
    std::set<std::string> tried;
    for (const auto& each : entry.attempts) {
      tried.insert(each.backend);
      CHECK(each.outcome == "refused");
    }
    CHECK(tried.size() == 3);
  }
  weir.settle();
}

TEST_CASE("dial: retry_enabled false means one dial and no more") {
  const DeadPort dead;
  Service service;
  TestWeir weir(Setup{.resilience = "retry_enabled: false, retry_attempts: 3",
                      .pool = "balance: first",
                      .backends = {dead.address(), service.address()}}
                    .yaml());
  for (int i = 0; i < 3; ++i) client_ends(weir);
  for (const LogEntry& entry : weir.expect_closed(CloseReason::upstream_connect_failed, 3)) {
    CHECK(attempts_of(entry) == "b1 refused");
  }
  CHECK(service.accepted() == 0);
  weir.settle();
}

TEST_CASE("dial: retry_attempts counts the dials after the first, also at one backend again") {
  const DeadPort one;
  const DeadPort two;
  TestWeir weir(Setup{.resilience = "retry_attempts: 3",
                      .pool = "balance: first",
                      .backends = {one.address(), two.address()}}
                    .yaml());
  const Stopwatch since_start;
  client_ends(weir);
  // A backend that failed this client is left alone for 100 ms.
  since_start.expect_between(100ms, 350ms);
  CHECK(attempts_of(weir.expect_closed(CloseReason::upstream_connect_failed)[0]) ==
        "b1 refused, b2 refused, b1 refused, b2 refused");
  weir.settle();
}

TEST_CASE("dial: retry_attempts 1 leaves a third backend alone") {
  const DeadPort one;
  const DeadPort two;
  Service service;
  TestWeir weir(Setup{.resilience = "retry_attempts: 1",
                      .pool = "balance: first",
                      .backends = {one.address(), two.address(), service.address()}}
                    .yaml());
  client_ends(weir);
  CHECK(attempts_of(weir.expect_closed(CloseReason::upstream_connect_failed)[0]) ==
        "b1 refused, b2 refused");
  CHECK(service.accepted() == 0);
  weir.settle();
}

TEST_CASE("dial: a backend that comes up between two attempts serves the client") {
  Backend later("127.0.0.1", {}, 0);
  later.fill_queue();  // its first dial times out
  TestWeir weir(Setup{.timeouts = "connect: " + scaled_ms(1500ms),
                      .resilience = "retry_attempts: 2",
                      .backends = {later.address()}}
                    .yaml());
  Stream client = weir.connect();
  client.say("question");
  weir.wait_until(
      [](const admin::Snapshot& now) {
        return now.backend("servers", "b1").dials_that(DialOutcome::timeout) == 1;
      },
      "the first dial has timed out");
  later.empty_queue();
  Stream served = later.accept();
  served.hear("question");
  served.close();
  client.expect_end();
  client.close();
  CHECK(attempts_of(weir.expect_closed(CloseReason::backend_closed)[0]) ==
        "b1 timeout, b1 connected");
  weir.settle();
}

TEST_CASE("dial: retry_deadline bounds all attempts together") {
  Backend one("127.0.0.1", {}, 0);
  Backend two("127.0.0.1", {}, 0);
  one.fill_queue();
  two.fill_queue();
  const milliseconds deadline = scaled(450ms);
  TestWeir weir(Setup{.timeouts = "connect: " + scaled_ms(300ms),
                      .resilience = "retry_attempts: 10, retry_deadline: " + scaled_ms(450ms),
                      .pool = "balance: first",
                      .backends = {one.address(), two.address()}}
                    .yaml());
  const Stopwatch since_start;
  client_ends(weir);
  since_start.expect_between(deadline, deadline + 50ms);
  const LogEntry entry = weir.expect_closed(CloseReason::retry_deadline_exhausted)[0];
  CHECK(attempts_of(entry) == "b1 timeout, b2 timeout");
  // The second one had only what was left.
  CHECK(entry.attempts[1].ms < static_cast<double>(scaled(300ms).count()));
  weir.settle();
}

TEST_CASE("dial: retry_deadline ends waiting, too") {
  const DeadPort dead;
  TestWeir weir(
      Setup{.resilience = "retry_attempts: 10, retry_deadline: 250ms", .backends = {dead.address()}}
          .yaml());
  const Stopwatch since_start;
  client_ends(weir);
  // A wait that would end after the deadline is not begun.
  since_start.expect_between(0ms, 250ms);
  const LogEntry entry = weir.expect_closed(CloseReason::retry_deadline_exhausted)[0];
  CHECK(entry.attempts.size() >= 1);
  CHECK(entry.attempts.size() <= 3);
  CHECK(entry.duration_ms <= static_cast<double>((at_most(25ms) + 250ms).count()));
  weir.settle();
}

// Full jitter: each wait is anything from nothing to its ceiling, which doubles.
TEST_CASE("dial: back-off waits before each retry, within its ceilings, and spreads clients") {
  constexpr std::size_t kClients = 40;
  const DeadPort one;
  const DeadPort two;
  const DeadPort three;
  const milliseconds initial = scaled(100ms);
  TestWeir weir(
      Setup{.resilience = fmt::format("retry_backoff_initial: {}ms, retry_backoff_max: {}ms",
                                      initial.count(), 2 * initial.count()),
            .backends = {one.address(), two.address(), three.address()}}
          .yaml());
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(weir.connect());
  for (Stream& client : clients) {
    client.expect_end();
    client.close();
  }
  double sum = 0;
  double shortest = 1e9;
  for (const LogEntry& entry : weir.expect_closed(CloseReason::upstream_connect_failed, kClients)) {
    CHECK(entry.attempts.size() == 3);
    CHECK(entry.duration_ms <= static_cast<double>(3 * initial.count() + at_most(30ms).count()));
    sum += entry.duration_ms;
    shortest = std::min(shortest, entry.duration_ms);
  }
  // On average half of 1 + 2 ceilings, and its deviation over 40 clients is a tenth of one.
  CHECK(sum / kClients > 0.9 * static_cast<double>(initial.count()));
  CHECK(shortest < 1.4 * static_cast<double>(initial.count()));
  weir.settle();
}

TEST_CASE("dial: without back-off the next backend is dialled at once") {
  const DeadPort dead;
  Service service;
  TestWeir weir(
      Setup{.pool = "balance: first", .backends = {dead.address(), service.address()}}.yaml());
  const Stopwatch since_start;
  client_is_served(weir);
  since_start.expect_at_most(10ms);
  weir.settle();
}

TEST_CASE("TO-03: gauges and descriptors are back after clients leave dials to black holes") {
  Backend hole("127.0.0.1", {}, 0);
  hole.fill_queue();
  TestWeir weir(Setup{.workers = 2, .backends = {hole.address()}}.yaml());
  std::vector<Stream> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(weir.connect());
  weir.wait_until(
      [](const admin::Snapshot& now) { return now.backend("servers", "b1").dialing == 20; },
      "all dial");
  CHECK(weir.snapshot().pool("servers").active == 20);
  for (Stream& client : clients) client.rst();
  weir.expect_closed(CloseReason::client_reset, 20);
  CHECK(weir.snapshot().backend("servers", "b1").dials_that(DialOutcome::cancelled) == 20);
  weir.settle();
}

}  // namespace
}  // namespace weir::e2e
