#include <doctest/doctest.h>
#include <fmt/format.h>

#include <future>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// Clients that wait for a slot of the pool.
namespace weir::e2e {
namespace {

using core::CloseReason;

constexpr const char* kPool = "servers";

std::string limits(int active, int pending, const std::string& timeout = "60s") {
  return fmt::format("max_active_requests: {}, max_pending_requests: {}, pending_timeout: {}",
                     active, pending, timeout);
}

// `shutdown` leaves the longest pending_timeout room.
std::string yaml(const Setup& setup) { return "shutdown: {deadline: 60s}\n" + setup.yaml(); }

Setup queue(const Service& service, int workers, const std::string& resilience) {
  return {.workers = workers, .resilience = resilience, .backends = {service.address()}};
}

void wait_for_pending(const TestWeir& weir, std::uint64_t count) {
  weir.wait_until([count](const admin::Snapshot& now) { return now.pool(kPool).pending == count; },
                  fmt::format("{} clients wait", count));
}

// A client in the queue that has said something already.
Stream waiting(const TestWeir& weir, std::uint64_t place) {
  Stream client = weir.connect();
  client.say("q");
  wait_for_pending(weir, place);
  return client;
}

TEST_CASE("ADM: one more than the limit waits, and is served when a session ends") {
  for (const int workers : {1, 2, 4}) {
    Service service;
    TestWeir weir(yaml(queue(service, workers, limits(2, 3))));
    Stream first = weir.connect();
    ask(first);
    Stream second = weir.connect();
    ask(second);
    Stream third = waiting(weir, 1);
    CHECK(weir.snapshot().pool(kPool).active == 2);
    CHECK(service.accepted() == 2);
    first.close();
    third.hear("q");
    CHECK(service.peak() == 2);
    second.close();
    third.close();
    const auto entries = weir.expect_closed(CloseReason::client_closed, 3);
    double waited = 0;
    for (const LogEntry& entry : entries) waited += entry.queue_ms;
    CHECK(waited > 0);
    weir.settle();
  }
}

TEST_CASE("ADM: the queue is strictly first come, first served, over all workers") {
  for (const int workers : {1, 4}) {
    Service service;
    TestWeir weir(yaml(queue(service, workers, limits(1, 20))));
    Stream current = weir.connect();
    ask(current);
    std::vector<Stream> queue;
    for (std::uint64_t place = 1; place <= 10; ++place) queue.push_back(waiting(weir, place));
    for (std::size_t next = 0; next < queue.size(); ++next) {
      current.close();
      queue[next].hear("q");
      wait_for_pending(weir, queue.size() - next - 1);
      current = std::move(queue[next]);
    }
    current.close();
    weir.expect_closed(CloseReason::client_closed, 11);
    CHECK(service.peak() == 1);
    weir.settle();
  }
}

TEST_CASE("ADM: beyond the queue a client is refused at once, in good order") {
  Service service;
  TestWeir weir(yaml(queue(service, 2, limits(1, 1))));
  Stream active = weir.connect();
  ask(active);
  Stream queued = waiting(weir, 1);
  for (int i = 0; i < 5; ++i) {
    Stream refused = weir.connect();
    refused.say("q");
    refused.expect_end();
  }
  weir.wait_until(
      [](const admin::Snapshot& now) {
        return now.pool(kPool).rejected_as(CloseReason::proxy_overloaded) == 5;
      },
      "five are refused");
  for (const LogEntry& entry : weir.log(5)) {
    CHECK(entry.reason == "proxy_overloaded");
    CHECK(entry.attempts.empty());
  }
  active.close();
  queued.hear("q");
  queued.close();
  weir.log(7);
  CHECK(service.accepted() == 2);
  weir.settle();
}

TEST_CASE("ADM: without a queue nobody waits") {
  Service service;
  TestWeir weir(queue(service, 1, "max_active_requests: 1").yaml());
  Stream active = weir.connect();
  ask(active);
  Stream refused = weir.connect();
  refused.expect_end();
  refused.close();
  active.close();
  weir.log(2);
  CHECK(weir.snapshot().pool(kPool).rejected_as(CloseReason::proxy_overloaded) == 1);
  weir.settle();
}

TEST_CASE("ADM: who waits longer than pending_timeout is refused, and the next moves up") {
  Service service;
  TestWeir weir(yaml(queue(service, 2, limits(1, 5, scaled_ms(400ms)))));
  Stream active = weir.connect();
  ask(active);
  const Stopwatch since;
  Stream early = waiting(weir, 1);
  early.expect_end();
  since.expect_between(scaled(400ms), scaled(400ms));
  early.close();
  Stream late = waiting(weir, 1);
  active.close();
  late.hear("q");
  late.close();
  weir.log(3);
  CHECK(weir.snapshot().pool(kPool).rejected_as(CloseReason::pending_timeout) == 1);
  weir.settle();
}

TEST_CASE("ADM-02: clients that leave the queue give up their place, and no backend is dialled") {
  for (const int workers : {1, 2, 4}) {
    Service service;
    TestWeir weir(yaml(queue(service, workers, limits(1, 100))));
    Stream active = weir.connect();
    ask(active);
    std::vector<Stream> leaving;
    for (int i = 0; i < 20; ++i) leaving.push_back(weir.connect());
    wait_for_pending(weir, 20);
    Stream stays = waiting(weir, 21);
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      if (i % 2 == 0) leaving[i].rst();
      if (i % 2 == 1) leaving[i].close();
    }
    wait_for_pending(weir, 1);
    active.close();
    stays.hear("q");
    stays.close();
    weir.log(22);
    CHECK(weir.snapshot().pool(kPool).rejected_as(CloseReason::client_left_queue) == 20);
    CHECK(service.accepted() == 2);
    weir.settle();
  }
}

TEST_CASE("ADM-02: a client that has sent something and half-closed keeps its place") {
  Service service;
  TestWeir weir(yaml(queue(service, 1, limits(1, 5))));
  Stream active = weir.connect();
  ask(active);
  Stream half = waiting(weir, 1);
  half.shutdown_write();
  Stream second = waiting(weir, 2);
  active.close();
  half.hear("q");
  half.expect_end();
  half.close();
  second.hear("q");
  second.close();
  weir.expect_closed(CloseReason::client_closed, 3);
  weir.settle();
}

TEST_CASE("REL-02: a drain refuses at once those who wait in the queue, and lets sessions go on") {
  for (const int workers : {1, 2}) {
    Service service;
    TestWeir weir(yaml(queue(service, workers, limits(1, 10))));
    Stream active = weir.connect();
    ask(active);
    std::vector<Stream> waiters;
    for (std::uint64_t place = 1; place <= 5; ++place) waiters.push_back(waiting(weir, place));
    weir.drain();
    for (Stream& waiter : waiters) {
      waiter.expect_end();
      waiter.close();
    }
    ask(active);
    CHECK(weir.snapshot().pool(kPool).rejected_as(CloseReason::shutdown) == 5);
    active.close();
    weir.log(6);
  }
}

// Clients of every temper at once: the backend never sees more than the limit, everybody is
// accounted for, and in the end nothing is left.
TEST_CASE("ADM-04: under a storm of clients the limit holds, and all that is left is nothing") {
  constexpr int kThreads = 8;
  constexpr int kRounds = 40;
  for (const int workers : {1, 2, 4}) {
    Service service;
    TestWeir weir(yaml(queue(service, workers, limits(3, 4))));
    std::vector<std::future<void>> clients;
    for (int thread = 0; thread < kThreads; ++thread) {
      clients.push_back(meanwhile([&weir, thread] {
        for (int round = 0; round < kRounds; ++round) {
          Stream client = weir.connect();
          client.say("q");
          switch ((thread + round) % 4) {
            case 0:
              client.rst();
              break;
            case 1:
              client.close();
              break;
            default:
              client.shutdown_write();
              if (client.hear_if_anything("q")) client.expect_ending();
              client.close();
          }
        }
      }));
    }
    for (auto& each : clients) each.get();
    weir.log(kThreads * kRounds);
    CHECK(service.peak() <= 3);
    weir.settle();
  }
}

}  // namespace
}  // namespace weir::e2e
