#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// Clients over a limit leave nothing behind: no gauge that stays up, none that falls below 0.
namespace weir::e2e {
namespace {

using core::CloseReason;

constexpr std::size_t kLimit = 5;
constexpr std::size_t kOver = 50;

// Compares each look with the one before.
class Books {
 public:
  void look(const app::Snapshot& now) {
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
      const app::Snapshot now = weir.wait_until(
          [](const app::Snapshot& each) { return each.sessions == 0; }, "all have left");
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

}  // namespace
}  // namespace weir::e2e
