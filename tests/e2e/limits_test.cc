#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// No limit is exceeded at any time, and clients over it leave nothing behind: no gauge that stays
// up, none that falls below 0.
namespace weir::e2e {
namespace {

using core::CloseReason;

constexpr std::size_t kLimit = 5;
constexpr std::size_t kOver = 50;

// Compares each look with the one before.
class Books {
 public:
  void look(const admin::Snapshot& now) {
    const auto& front = now.listener("front");
    const auto& pool = now.pool("servers");
    const auto& b1 = now.backend("servers", "b1");
    // A gauge that falls below 0 is the largest number there is.
    CHECK(now.sessions <= kLimit + kOver);
    CHECK(front.connections <= kLimit + kOver);
    CHECK(pool.active <= kLimit + kOver);
    CHECK(b1.active <= kLimit);
    CHECK(b1.dialing <= kLimit);
    grows(accepted_, front.accepted);
    grows(bytes_, front.bytes_in + front.bytes_out);
    for (std::size_t i = 0; i < closed_.size(); ++i) grows(closed_[i], front.closed[i]);
    for (std::size_t i = 0; i < rejected_.size(); ++i) grows(rejected_[i], pool.rejected[i]);
    for (std::size_t i = 0; i < dials_.size(); ++i) grows(dials_[i], b1.dials[i]);
  }

 private:
  static void grows(std::uint64_t& total, std::uint64_t now) {
    CHECK(now >= total);
    total = now;
  }

  std::uint64_t accepted_ = 0;
  std::uint64_t bytes_ = 0;
  std::array<std::uint64_t, core::kCloseReasons> closed_{};
  std::array<std::uint64_t, core::kCloseReasons> rejected_{};
  std::array<std::uint64_t, core::kDialOutcomes> dials_{};
};

// All come at once; those within the limit stay until the others have been turned away.
void crowd(const TestWeir& weir) {
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kLimit + kOver; ++i) {
    clients.push_back(weir.connect());
    clients.back().say("q");
  }
  std::size_t served = 0;
  for (Stream& client : clients) {
    if (client.hear_if_anything("q")) {
      ++served;
    } else {
      client.expect_end();
    }
  }
  CHECK(served == kLimit);
}

void over(Setup setup, CloseReason reason) {
  for (const int workers : {1, 2, 4}) {
    INFO(workers, " workers");
    Service service;
    setup.workers = workers;
    setup.backends = {service.address()};
    TestWeir weir(setup.yaml());
    std::atomic<bool> over{false};
    auto watching = meanwhile([&] {
      for (Books books; !over; silence(1ms)) books.look(weir.snapshot());
    });
    for (std::uint64_t round = 1; round <= 3; ++round) {
      crowd(weir);
      const admin::Snapshot now = weir.wait_until(
          [](const admin::Snapshot& each) { return each.sessions == 0; }, "all have left");
      CHECK(now.listener("front").connections == 0);
      CHECK(now.pool("servers").active == 0);
      CHECK(now.backend("servers", "b1").active == 0);
      CHECK(now.listener("front").closed_as(reason) == round * kOver);
      CHECK(now.listener("front").closed_as(CloseReason::client_closed) == round * kLimit);
    }
    over = true;
    watching.get();
    CHECK(service.peak() == kLimit);
    weir.settle();
  }
}

TEST_CASE("ST-01: clients over the listener's limit leave no trace in it") {
  over({.max_connections = kLimit}, CloseReason::listener_full);
}

TEST_CASE("ST-01: clients over the pool's limit leave no trace in it") {
  over({.resilience = fmt::format("max_active_requests: {}", kLimit)},
       CloseReason::proxy_overloaded);
}

TEST_CASE("ST-01: clients over a backend's limit leave no trace in it") {
  over({.resilience = fmt::format("max_active_per_backend: {}", kLimit)},
       CloseReason::backend_at_capacity);
}

// Half of the dials are refused, and whoever is refused is dialled for again.
struct RetryScene {
  static constexpr std::size_t kLimit = 10;
  static constexpr std::size_t kClients = 300;

  RetryScene(int workers, const std::string& resilience)
      : weir("shutdown: {deadline: 60s}\n" + Setup{.workers = workers,
                                                   .resilience = resilience,
                                                   .backends = {dead.address(), service.address()}}
                                                 .yaml()) {
    for (std::size_t i = 0; i < kClients; ++i) {
      clients.push_back(weir.connect());
      clients.back().say("q");
    }
  }
  void expect_books() {
    std::size_t refused = 0;
    for (const LogEntry& entry : weir.log(kClients)) {
      for (const auto& attempt : entry.attempts) refused += attempt.outcome == "refused" ? 1U : 0U;
    }
    CHECK(refused ==
          weir.snapshot().backend("servers", "b1").dials_that(core::DialOutcome::refused));
    CHECK(refused > 0);
    CHECK(service.peak() == kLimit);
    weir.settle();
  }

  const DeadPort dead;
  Service service;
  TestWeir weir;
  std::vector<Stream> clients;
};

TEST_CASE("ADM-04: a backend's limit holds when half of the dials are refused and made again") {
  for (const int workers : {1, 2, 4}) {
    RetryScene scene(workers, "max_active_per_backend: 10");
    std::vector<Stream> served;
    for (Stream& client : scene.clients) {
      if (client.hear_if_anything("q")) {
        served.push_back(std::move(client));
      } else {
        client.expect_end();
        client.close();
      }
    }
    CHECK(served.size() == RetryScene::kLimit);
    // At rest the gauge is the backend's own count, whoever leaves.
    while (!served.empty()) {
      const std::size_t left = served.size();
      const admin::Snapshot now = scene.weir.wait_until(
          [left](const admin::Snapshot& each) { return each.sessions == left; },
          "others have left");
      CHECK(now.backend("servers", "b1").active == 0);
      CHECK(now.backend("servers", "b2").active == left);
      for (const Stopwatch since; scene.service.connections() != left; silence(1ms)) {
        REQUIRE(since.elapsed() < patience());
      }
      for (std::size_t i = 0; i < 3 && !served.empty(); ++i) served.pop_back();
    }
    CHECK(scene.service.accepted() == RetryScene::kLimit);
    scene.expect_books();
  }
}

TEST_CASE("ADM-04: the pool's limit holds when half of the dials are refused and made again") {
  for (const int workers : {1, 2, 4}) {
    RetryScene scene(workers,
                     "max_active_requests: 10, max_pending_requests: 300, pending_timeout: 60s");
    for (const Stopwatch since; !scene.clients.empty(); silence(1ms)) {
      REQUIRE(since.elapsed() < patience());
      CHECK(scene.weir.snapshot().pool("servers").active <= RetryScene::kLimit);
      std::erase_if(scene.clients, [](Stream& each) {
        if (each.unread() == 0) return false;
        each.hear("q");
        return true;
      });
    }
    CHECK(scene.service.accepted() == RetryScene::kClients);
    scene.expect_books();
  }
}

}  // namespace
}  // namespace weir::e2e
