#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// How many dials beyond the first all clients of a pool have together.
namespace weir::e2e {
namespace {

using core::CloseReason;
using core::DialOutcome;

// Every client is dialled for at a dead backend first, and needs a retry to be served by the live
// one. The circuit is off: it would end that after a few.
std::string yaml(int workers, int percent, const DeadPort& dead, const Service& live) {
  return Setup{.workers = workers,
               .resilience = "retry_budget_percent: " + std::to_string(percent),
               .pool = "balance: first",
               .backends = {dead.address(), live.address()}}
      .yaml();
}

bool is_served(Stream client) {
  client.say("question");
  const bool served = client.hear_if_anything("question");
  if (!served) client.expect_end();
  client.close();
  return served;
}

// Within it no retry comes back to the budget.
constexpr milliseconds kWindow = 9900ms;

TEST_CASE("retry budget: of a burst exactly the share is dialled again, over all workers") {
  constexpr std::size_t kClients = 100;
  constexpr std::size_t kRetries = 100 * 20 / 100 + 3;
  for (const int workers : {1, 2, 4}) {
    const DeadPort dead;
    Service live;
    TestWeir weir(yaml(workers, 20, dead, live));
    const Stopwatch since_start;
    std::vector<Stream> clients;
    for (std::size_t i = 0; i < kClients; ++i) clients.push_back(weir.connect());
    std::size_t served = 0;
    for (Stream& client : clients) {
      if (is_served(std::move(client))) ++served;
    }
    REQUIRE(since_start.elapsed() < kWindow);
    CHECK(served == kRetries);
    CHECK(live.accepted() == kRetries);

    std::size_t denied = 0;
    for (const LogEntry& entry : weir.log(kClients)) {
      CHECK(entry.attempts[0].outcome == "refused");
      if (entry.reason == "client_closed") {
        CHECK(entry.attempts.size() == 2);
        continue;
      }
      ++denied;
      CHECK(entry.reason == "retry_budget_exhausted");
      CHECK(entry.closed_by == "weir");
      CHECK(entry.backend == "b1");
      CHECK(entry.attempts.size() == 1);
    }
    CHECK(denied == kClients - kRetries);

    const admin::Snapshot now = weir.snapshot();
    CHECK(now.backend("servers", "b1").dials_that(DialOutcome::refused) == kClients);
    CHECK(now.backend("servers", "b2").dials_that(DialOutcome::connected) == kRetries);
    const auto& pool = now.pool("servers");
    CHECK(pool.retries[static_cast<std::size_t>(DialOutcome::connected)] == kRetries);
    CHECK(pool.retry_budget_denied == denied);
    CHECK(now.listener("front").closed_as(CloseReason::retry_budget_exhausted) == denied);
    weir.settle();
  }
}

TEST_CASE("retry budget: clients one by one get three retries, then one for every fifth") {
  for (const int workers : {1, 2, 4}) {
    const DeadPort dead;
    Service live;
    TestWeir weir(yaml(workers, 20, dead, live));
    const Stopwatch since_start;
    std::vector<int> served;
    for (int client = 1; client <= 20; ++client) {
      if (is_served(weir.connect())) served.push_back(client);
    }
    REQUIRE(since_start.elapsed() < kWindow);
    CHECK(served == std::vector<int>{1, 2, 3, 5, 10, 15, 20});
    weir.settle();
  }
}

TEST_CASE("retry budget: what no client needs is not spent by those who fare well") {
  Service live;
  TestWeir weir(
      Setup{.workers = 2, .resilience = "retry_budget_percent: 100", .backends = {live.address()}}
          .yaml());
  for (int i = 0; i < 10; ++i) CHECK(is_served(weir.connect()));
  weir.expect_closed(CloseReason::client_closed, 10);
  const admin::Snapshot now = weir.snapshot();
  for (const std::uint64_t count : now.pool("servers").retries) CHECK(count == 0);
  CHECK(now.pool("servers").retry_budget_denied == 0);
  weir.settle();
}

}  // namespace
}  // namespace weir::e2e
