#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// What people reported of other proxies' limits and queues.
namespace weir::e2e {
namespace {

using core::CloseReason;

constexpr const char* kPool = "servers";

std::string yaml(int workers, const std::string& resilience,
                 const std::vector<std::string>& backends) {
  // `shutdown` leaves the longest pending_timeout room.
  return "shutdown: {deadline: 60s}\n" +
         Setup{.workers = workers, .resilience = resilience, .backends = backends}.yaml();
}

void wait_for_pending(const TestWeir& weir, std::uint64_t count, At at = At::here()) {
  weir.wait_until_within(
      50ms, [count](const admin::Snapshot& now) { return now.pool(kPool).pending == count; },
      fmt::format("{} clients wait", count), at);
}

// Clients that come again when they were served or refused, until `served` have been. The refused
// give the others the processor for a moment.
void until_served(const TestWeir& weir, std::atomic<int>& served, int wanted) {
  while (served < wanted) {
    Stream client = weir.connect();
    client.say("q");
    if (client.hear_if_anything("q")) {
      ++served;
    } else {
      client.expect_end();
      silence(2ms);
    }
  }
}

void short_sessions(int looping_clients, int wanted) {
  for (const int workers : {1, 2, 4}) {
    Service service;
    // Far above the longest wait that is allowed below, so that a wait which ends with it shows.
    const milliseconds timeout = slow() ? 30s : 10s;
    TestWeir weir(yaml(workers,
                       fmt::format("max_active_requests: 1, max_pending_requests: 10, "
                                   "pending_timeout: {}ms",
                                   timeout.count()),
                       {service.address()}));
    std::atomic<int> served{0};
    std::vector<std::future<void>> clients;
    for (int i = 0; i < looping_clients; ++i) {
      clients.push_back(meanwhile([&] { until_served(weir, served, wanted); }));
    }
    while (served < wanted) {
      const admin::Snapshot now = weir.snapshot();
      CHECK(now.pool(kPool).active <= 1);
      if (now.pool(kPool).pending > 0) CHECK(now.pool(kPool).active == 1);
      // Lost already: there is no point in waiting for the others.
      if (now.pool(kPool).rejected_as(CloseReason::pending_timeout) > 0) served = wanted;
      silence(1ms);
    }
    for (auto& each : clients) each.get();
    weir.wait_until([](const admin::Snapshot& now) { return now.sessions == 0; }, "all have left");
    const admin::Snapshot last = weir.snapshot();
    CHECK(last.pool(kPool).rejected_as(CloseReason::pending_timeout) == 0);
    const auto& front = last.listener("front");
    CHECK(front.closed_as(CloseReason::client_closed) == static_cast<std::uint64_t>(served));
    CHECK(front.closed_as(CloseReason::client_closed) +
              front.closed_as(CloseReason::proxy_overloaded) ==
          front.accepted);
    double longest = 0;
    for (const LogEntry& entry : weir.log(front.accepted)) {
      longest = std::max(longest, entry.queue_ms);
    }
    CHECK(longest > 0);
    CHECK(longest <= static_cast<double>(at_most(300ms).count()));
    CHECK(service.peak() == 1);
    weir.settle();
  }
}

TEST_CASE("ADM-01: nobody sleeps beside a free slot, in thousands of short sessions") {
  short_sessions(20, slow() ? 600 : 4000);
}

// A queue that is seldom empty hides a wait that begins just as the slot is given back.
TEST_CASE("ADM-01: nor where the queue is empty again and again") {
  short_sessions(2, slow() ? 600 : 4000);
}

TEST_CASE("ADM-02: a queue that fills and empties twenty times takes and serves the next client") {
  constexpr int kRefills = 20;
  constexpr std::size_t kLeavers = 49;
  for (const int workers : {1, 2, 4}) {
    Service service;
    TestWeir weir(yaml(workers,
                       "max_active_requests: 1, max_pending_requests: 50, pending_timeout: 60s",
                       {service.address()}));
    Stream holder = weir.connect();
    ask(holder);
    // The first in the queue wants its answer, whoever leaves behind it.
    Stream half_closed = weir.connect();
    half_closed.say("q");
    half_closed.shutdown_write();
    wait_for_pending(weir, 1);
    for (int refill = 0; refill < kRefills; ++refill) {
      std::vector<Stream> leavers;
      for (std::size_t i = 0; i < kLeavers; ++i) leavers.push_back(weir.connect());
      wait_for_pending(weir, 1 + kLeavers);
      for (std::size_t i = 0; i < kLeavers; ++i) {
        if (i % 3 == 0) leavers[i].close();
        if (i % 3 == 1) leavers[i].rst();
        if (i % 3 == 2) leavers[i].shutdown_write();
      }
      wait_for_pending(weir, 1);
      for (Stream& each : leavers) {
        if (each.fd() >= 0) each.expect_end();
      }
    }
    holder.close();
    const Stopwatch since_release;
    half_closed.hear("q");
    half_closed.expect_end();
    half_closed.close();
    Stream next = weir.connect();
    ask(next);
    since_release.expect_at_most(50ms);
    next.close();
    weir.log(3 + kRefills * kLeavers);
    CHECK(weir.snapshot().pool(kPool).rejected_as(CloseReason::client_left_queue) ==
          kRefills * kLeavers);
    CHECK(service.accepted() == 3);
    weir.settle();
  }
}

TEST_CASE("ADM-05: below the limit the queue is not used, whatever its size") {
  constexpr std::size_t kClients = 100;
  for (const int workers : {1, 2, 4}) {
    Service service;
    TestWeir weir(yaml(workers,
                       "max_active_requests: 100, max_pending_requests: 5, pending_timeout: 60s",
                       {service.address()}));
    std::vector<Stream> clients;
    for (std::size_t i = 0; i < kClients; ++i) {
      clients.push_back(weir.connect());
      clients.back().say("q");
    }
    for (Stream& client : clients) client.hear("q");
    CHECK(weir.snapshot().pool(kPool).active == kClients);
    CHECK(weir.snapshot().pool(kPool).pending == 0);
    clients.clear();
    for (const LogEntry& entry : weir.expect_closed(CloseReason::client_closed, kClients)) {
      CHECK(entry.queue_ms == 0);
    }
    weir.settle();
  }
}

TEST_CASE("ADM-05: a full queue refuses at once, a long wait in time, and each is counted apart") {
  for (const int workers : {1, 2, 4}) {
    Service service;
    TestWeir weir(yaml(
        workers,
        "max_active_requests: 1, max_pending_requests: 1, pending_timeout: " + scaled_ms(400ms),
        {service.address()}));
    Stream holder = weir.connect();
    ask(holder);
    const Stopwatch since_queued;
    Stream waits = weir.connect();
    waits.say("q");
    wait_for_pending(weir, 1);
    {
      const Stopwatch since_came;
      Stream refused = weir.connect();
      refused.say("q");
      refused.expect_end();
      since_came.expect_at_most(50ms);
    }
    CHECK(weir.log(1).back().reason == text(CloseReason::proxy_overloaded));
    waits.expect_end();
    since_queued.expect_between(scaled(400ms), scaled(400ms) + 80ms);
    waits.close();
    CHECK(weir.log(2).back().reason == text(CloseReason::pending_timeout));
    // The place of the one who waited too long is free.
    Stream next = weir.connect();
    next.say("q");
    wait_for_pending(weir, 1);
    holder.close();
    next.hear("q");
    next.close();
    weir.log(4);
    const admin::Snapshot::Pool pool = weir.snapshot().pool(kPool);
    CHECK(pool.rejected_as(CloseReason::proxy_overloaded) == 1);
    CHECK(pool.rejected_as(CloseReason::pending_timeout) == 1);
    CHECK(service.accepted() == 2);
    weir.settle();
  }
}

}  // namespace
}  // namespace weir::e2e
