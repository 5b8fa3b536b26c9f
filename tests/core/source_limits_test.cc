#include "weir/core/source_limits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "weir/core/random.h"

namespace weir::core {
namespace {

using namespace std::chrono_literals;

IpAddress source(std::uint32_t number) {
  return IpAddress(IpAddress::V4{10, static_cast<std::uint8_t>(number >> 16),
                                 static_cast<std::uint8_t>(number >> 8),
                                 static_cast<std::uint8_t>(number)});
}

const TimePoint kStart = TimePoint(1h);

}  // namespace

TEST_CASE("source limits: without bounds nothing is refused, counted or remembered") {
  SourceLimits limits;
  std::vector<SourceLimits::Guard> guards;
  for (int i = 0; i < 100; ++i) {
    auto guard = limits.admit(source(1), kStart);
    REQUIRE(guard);
    guards.push_back(std::move(*guard));
  }
  CHECK(limits.sources() == 0);
}

TEST_CASE("source limits: each address has so many connections at a time") {
  SourceLimits limits({.connections = 2});
  auto first = limits.admit(source(1), kStart);
  auto second = limits.admit(source(1), kStart);
  CHECK(first);
  CHECK(second);
  CHECK_FALSE(limits.admit(source(1), kStart));
  auto other = limits.admit(source(2), kStart);
  CHECK(other);
  CHECK(limits.sources() == 2);
  first.reset();
  CHECK(limits.admit(source(1), kStart));  // and left again
  second.reset();
  other.reset();
  CHECK(limits.sources() == 0);
}

TEST_CASE("source limits: a guard that has moved gives back once") {
  SourceLimits limits({.connections = 1});
  auto guard = limits.admit(source(1), kStart);
  REQUIRE(guard);
  {
    SourceLimits::Guard moved = std::move(*guard);
    SourceLimits::Guard assigned;
    assigned = std::move(moved);
    CHECK_FALSE(limits.admit(source(1), kStart));
  }
  CHECK(limits.admit(source(1), kStart));
}

TEST_CASE("source limits: as many at once as come in a second, then one each time there is room") {
  SourceLimits limits({.rate = 4});
  for (int i = 0; i < 4; ++i) CHECK(limits.admit(source(1), kStart));
  CHECK_FALSE(limits.admit(source(1), kStart));
  CHECK(limits.admit(source(2), kStart));  // another's bucket
  CHECK_FALSE(limits.admit(source(1), kStart + 249ms));
  CHECK(limits.admit(source(1), kStart + 250ms));
  CHECK_FALSE(limits.admit(source(1), kStart + 499ms));
  for (int i = 0; i < 4; ++i) CHECK(limits.admit(source(1), kStart + 10s));
  CHECK_FALSE(limits.admit(source(1), kStart + 10s));
}

TEST_CASE("source limits: one that is refused for one bound takes nothing of the other") {
  SourceLimits limits({.connections = 1, .rate = 2});
  auto guard = limits.admit(source(1), kStart);
  for (int i = 0; i < 10; ++i) CHECK_FALSE(limits.admit(source(1), kStart));  // too many
  guard.reset();
  guard = limits.admit(source(1), kStart);
  CHECK(guard);
  guard.reset();
  for (int i = 0; i < 10; ++i) CHECK_FALSE(limits.admit(source(1), kStart));  // too fast
  CHECK(limits.admit(source(1), kStart + 500ms));
}

TEST_CASE("source limits: other bounds hold from then on") {
  SourceLimits limits({.connections = 1});
  auto guard = limits.admit(source(1), kStart);
  limits.set({.connections = 2});
  CHECK(limits.bounds() == SourceBounds{.connections = 2});
  auto second = limits.admit(source(1), kStart);
  CHECK(second);
  CHECK_FALSE(limits.admit(source(1), kStart));
  limits.set({});
  CHECK(limits.admit(source(1), kStart));
  limits.set({.connections = 1});
  guard.reset();
  CHECK_FALSE(limits.admit(source(1), kStart));  // the second one is still there
  second.reset();
  CHECK(limits.admit(source(1), kStart));
}

TEST_CASE("source limits: addresses that have gone are forgotten") {
  SourceLimits limits({.rate = 10});
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    REQUIRE(limits.admit(source(i), kStart + i * 10ms));
    most = std::max(most, limits.sources());
  }
  CHECK(most <= 16 * 64);  // a table in each shard before it is looked through
}

TEST_CASE("source limits: what a model allows, step by step") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const SourceBounds bounds{.connections = rng.below(4), .rate = rng.below(4)};
    SourceLimits limits(bounds);
    struct Model {
      std::vector<SourceLimits::Guard> open;
      double tokens = 0;
      TimePoint at = kStart;
    };
    std::vector<Model> models(3);
    for (Model& each : models) each.tokens = static_cast<double>(bounds.rate);
    TimePoint now = kStart;
    for (int step = 0; step < 200; ++step) {
      const std::uint32_t which = static_cast<std::uint32_t>(rng.below(models.size()));
      Model& model = models[which];
      now += Duration(1ms) * static_cast<Duration::rep>(rng.below(200));
      if (rng.below(3) == 0 && !model.open.empty()) {
        model.open.pop_back();
        continue;
      }
      const double rate = static_cast<double>(bounds.rate);
      const double passed = std::chrono::duration<double>(now - model.at).count();
      model.tokens = std::min(rate, model.tokens + passed * rate);
      model.at = now;
      const bool room = bounds.connections == 0 || model.open.size() < bounds.connections;
      const bool slow = bounds.rate == 0 || model.tokens >= 1 - 1e-6;
      auto guard = limits.admit(source(which), now);
      REQUIRE(guard.has_value() == (room && slow));
      if (!guard) continue;
      model.tokens -= 1;
      model.open.push_back(std::move(*guard));
    }
  }
}

TEST_CASE("source limits: threads together never have more than the bound") {
  constexpr std::uint64_t kMost = 3;
  SourceLimits limits({.connections = kMost});
  std::array<std::atomic<int>, 4> open{};
  std::atomic<bool> too_many = false;
  std::atomic<int> admitted = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Rng rng(thread + 1);
      for (int i = 0; i < 20'000; ++i) {
        const std::size_t which = rng.below(open.size());
        auto guard = limits.admit(source(static_cast<std::uint32_t>(which)), kStart);
        if (!guard) continue;
        ++admitted;
        if (++open[which] > static_cast<int>(kMost)) too_many = true;
        --open[which];
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK_FALSE(too_many);
  CHECK(admitted > 20'000);
  CHECK(limits.sources() == 0);
}

}  // namespace weir::core
