#include <doctest/doctest.h>

#include <vector>

#include "tests/e2e/scene.h"

namespace weir::e2e {
namespace {

using core::CloseReason;
using core::DialOutcome;

constexpr std::size_t kClients = 20;

void black_hole_beside_a_good_one(int workers) {
  Backend hole("127.0.0.1", {}, 0);
  hole.fill_queue();
  Backend good;
  TestWeir weir(Setup{.workers = workers,
                      .timeouts = "connect: " + scaled_ms(300ms),
                      .backends = {hole.address(), good.address()}}
                    .yaml());
  auto serving = meanwhile([&] {
    for (std::size_t i = 0; i < kClients; ++i) {
      Stream served = good.accept();
      served.say("served");
    }
  });
  const Stopwatch since_start;
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(weir.connect());
  for (Stream& client : clients) {
    client.hear("served");
    client.expect_end();
    client.close();
  }
  since_start.expect_at_most(scaled(300ms) + 100ms);
  serving.get();

  std::size_t went_round = 0;
  for (const LogEntry& entry : weir.expect_closed(CloseReason::backend_closed, kClients)) {
    CHECK(entry.backend == "b2");
    if (entry.attempts.size() == 1) continue;
    ++went_round;
    REQUIRE(entry.attempts.size() == 2);
    CHECK(entry.attempts[0].backend == "b1");
    CHECK(entry.attempts[0].outcome == "timeout");
    CHECK(entry.attempts[0].ms > static_cast<double>(scaled(300ms).count()) - 15);
    CHECK(entry.attempts[1].outcome == "connected");
  }
  const admin::Snapshot now = weir.snapshot();
  CHECK(now.backend("servers", "b1").dials_that(DialOutcome::timeout) == went_round);
  CHECK(now.backend("servers", "b1").dials_that(DialOutcome::connected) == 0);
  CHECK(now.backend("servers", "b2").dials_that(DialOutcome::connected) == kClients);
  CHECK(went_round > 0);
  weir.settle();
}

TEST_CASE("TO-03: a black hole costs a client one connect bound, then another backend serves it") {
  black_hole_beside_a_good_one(1);
}

TEST_CASE("TO-03: the same on two workers") { black_hole_beside_a_good_one(2); }

void nothing_but_black_holes(std::vector<Backend> holes) {
  Setup setup{.timeouts = "connect: " + scaled_ms(300ms)};
  for (Backend& hole : holes) {
    hole.fill_queue();
    setup.backends.push_back(hole.address());
  }
  TestWeir weir(setup.yaml());
  const milliseconds all = scaled(300ms) * static_cast<int>(holes.size());
  const Stopwatch since_start;
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(weir.connect());
  for (Stream& client : clients) {
    client.expect_end();
    client.close();
  }
  since_start.expect_between(all, all + 100ms);
  const Stopwatch since_left;
  for (const LogEntry& entry : weir.expect_closed(CloseReason::upstream_timeout, kClients)) {
    CHECK(entry.attempts.size() == holes.size());
    for (const LogEntry::Attempt& attempt : entry.attempts) CHECK(attempt.outcome == "timeout");
    CHECK(!entry.connect_ms);
  }
  since_left.expect_at_most(50ms);
  weir.settle();
}

TEST_CASE("TO-03: with nothing but black holes every client is ended after a dial of each") {
  std::vector<Backend> holes;
  holes.emplace_back("127.0.0.1", Buffers{}, 0);
  holes.emplace_back("::1", Buffers{}, 0);
  nothing_but_black_holes(std::move(holes));
}

TEST_CASE("TO-03: a unix backend whose queue is full is a black hole too") {
  const Folder folder;
  std::vector<Backend> holes;
  holes.emplace_back(folder.unix_socket("hole"), Buffers{}, 0);
  nothing_but_black_holes(std::move(holes));
}

TEST_CASE("TO-03: before nothing but black holes a queue ends everybody by its limits or connect") {
  for (const int workers : {1, 2, 4}) {
    Backend hole("127.0.0.1", {}, 0);
    hole.fill_queue();
    TestWeir weir(Setup{.workers = workers,
                        .timeouts = "connect: " + scaled_ms(300ms),
                        .resilience = "max_active_requests: 2, max_pending_requests: 5, "
                                      "pending_timeout: " +
                                      scaled_ms(400ms),
                        .backends = {hole.address()}}
                      .yaml());
    const Stopwatch since_start;
    std::vector<Stream> clients;
    for (std::size_t i = 0; i < kClients; ++i) clients.push_back(weir.connect());
    for (Stream& client : clients) {
      client.expect_end();
      client.close();
    }
    since_start.expect_between(scaled(400ms), scaled(600ms) + 100ms);
    std::size_t dialled = 0;
    for (const LogEntry& entry : weir.log(kClients)) {
      if (entry.reason == text(CloseReason::upstream_timeout)) {
        ++dialled;
        REQUIRE(entry.attempts.size() == 1);
        CHECK(entry.attempts[0].outcome == "timeout");
        continue;
      }
      CHECK(entry.attempts.empty());
      if (entry.reason == text(CloseReason::proxy_overloaded)) {
        CHECK(entry.queue_ms == 0);
      } else {
        CHECK(entry.reason == text(CloseReason::pending_timeout));
        CHECK(entry.queue_ms > static_cast<double>(scaled(400ms).count()) - 15);
      }
    }
    const admin::Snapshot now = weir.snapshot();
    // At 400 ms two have been dialled for and two more are, so that three have waited too long.
    CHECK(dialled >= 2);
    CHECK(now.pool("servers").rejected_as(CloseReason::pending_timeout) >= 1);
    CHECK(now.backend("servers", "b1").dials_that(DialOutcome::timeout) == dialled);
    CHECK(now.pool("servers").rejected_as(CloseReason::proxy_overloaded) +
              now.pool("servers").rejected_as(CloseReason::pending_timeout) ==
          kClients - dialled);
    weir.settle();
  }
}

TEST_CASE("TO-03: a connect bound of 0 is refused, as it would mean for ever") {
  CHECK_THROWS_AS(TestWeir(Setup{.timeouts = "connect: 0s", .backends = {"127.0.0.1:1"}}.yaml()),
                  ScriptFailure);
}

// Clients that wait for a banner before they say anything, as MySQL's and SMTP's do.
void server_speaks_first(int workers) {
  constexpr std::size_t kMany = 200;
  Scene scene({.workers = workers});
  std::vector<Stream> served;
  auto greeting = meanwhile([&] {
    while (served.size() < kMany) {
      served.push_back(scene.backend.accept());
      served.back().say("banner");
    }
  });
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kMany; ++i) clients.push_back(scene.connect());
  for (Stream& client : clients) client.hear("banner");
  greeting.get();
  silence(1500ms);
  for (Stream& client : clients) client.say("ask");
  for (Stream& backend : served) {
    backend.hear("ask");
    backend.say("answer");
    backend.shutdown_write();
  }
  for (Stream& client : clients) {
    client.hear("answer");
    client.expect_end();
    client.close();
  }
  for (const LogEntry& entry : scene.weir.expect_closed(CloseReason::backend_closed, kMany)) {
    CHECK(entry.first_byte_ms.value_or(1e9) <= static_cast<double>(at_most(50ms).count()));
    CHECK(entry.bytes_in == 3);
    CHECK(entry.bytes_out == 12);
  }
  scene.weir.settle(scene.backend);
}

TEST_CASE("TO-04: a server that speaks first is heard at once by clients that wait for it") {
  server_speaks_first(1);
}

TEST_CASE("TO-04: the same on four workers") { server_speaks_first(4); }

}  // namespace
}  // namespace weir::e2e
